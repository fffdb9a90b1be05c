"""Unsafe fixes that write what a program forgot: a seed at the first reset, `model.eval()`, a state in a checkpoint."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.fixes.apply import apply_edits

ENV = """
import gymnasium as gym
import torch

torch.manual_seed(3)
"""
NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x)

"""
RESUMED = """
import torch
from torch import nn

def main(resume):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    start = 0
    if resume:
        {load}
    for epoch in range(start, 4):
        model(torch.ones(2)).sum().backward()
        optimizer.step()
        scheduler.step()
        torch.save({saved}, "last.pt")

main(True)
"""
LOAD = """checkpoint = torch.load("last.pt")
        optimizer.load_state_dict(checkpoint["{key}"])
        start = checkpoint["epoch"] + 1"""


def resumed(key: str = "optimizer", load: str = LOAD, saved: str = "") -> str:
    saved = saved or '{"KEY": optimizer.state_dict(), "epoch": epoch}'.replace("KEY", key)
    return RESUMED.format(load=load.replace("{key}", key), saved=saved)


#: What is found, a program, and the lines that the fix writes; none where it is declined.
CASES: dict[str, tuple[str, str, list[str]]] = {
    "a reset before the loop": (
        "TRL511",
        ENV
        + """
env = gym.wrappers.TimeLimit(gym.make("Pendulum-v1"), 100)
state, _ = env.reset()
for step in range(9):
    state, _, done, _, _ = env.step([0.0])
    if done:
        state, _ = env.reset()
""",
        ["state, _ = env.reset(seed=torch.initial_seed() % 2**32)"],
    ),
    "each reset in a loop": (
        "TRL511",
        ENV
        + """
env = gym.make("Pendulum-v1")
for episode in range(9):
    state, _ = env.reset()
""",
        [],
    ),
    "a function that runs for each policy": (
        "TRL511",
        ENV
        + """
def score(policy):
    env = gym.make("Pendulum-v1")
    state, _ = env.reset()
    return env.step(policy)[1]

for policy in range(4):
    print(score(policy))
""",
        [],
    ),
    "an environment of Gym": (
        "TRL511",
        ENV.replace("gymnasium as gym", "gym")
        + """
env = gym.make("Pendulum-v1")
state = env.reset()
print(env.step([0.0]))
""",
        [],
    ),
    "a space below a seeded environment": (
        "TRL511",
        ENV
        + """
env = gym.make("Pendulum-v1")
env.reset(options=None, seed=3)
env.reset()
print(env.step(env.action_space.sample()))
""",
        [],
    ),
    "a trained model in a loop": (
        "TRL508",
        NET
        + """
net = Net()
net.load_state_dict(torch.load("net.pt"))
with torch.no_grad():
    for x in torch.ones(3, 4):
        print(net(x))
""",
        ["net.eval()"],
    ),
    "a program that trains as well": (
        "TRL508",
        NET
        + """
def evaluate(net):
    with torch.no_grad():
        return net(torch.ones(4)).sum()

net, last = Net(), nn.Linear(4, 1)
optimizer = torch.optim.SGD(last.parameters(), lr=0.1)
for epoch in range(3):
    last(net(torch.ones(4))).sum().backward()
    optimizer.step()
    print(evaluate(net))
""",
        [],
    ),
    "a scheduler": (
        "TRL211",
        resumed(),
        [
            'if "scheduler" in checkpoint:',
            'scheduler.load_state_dict(checkpoint["scheduler"])',
            'torch.save({"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(), "epoch": epoch}, "last.pt")',
        ],
    ),
    "a scheduler beside keys in other words": (
        "TRL211",
        resumed("optimizer_state_dict"),
        [
            'if "scheduler_state_dict" in checkpoint:',
            'scheduler.load_state_dict(checkpoint["scheduler_state_dict"])',
            'torch.save({"optimizer_state_dict": optimizer.state_dict(), "scheduler_state_dict": scheduler.state_dict(), '
            '"epoch": epoch}, "last.pt")',
        ],
    ),
    "a checkpoint that a helper makes": (
        "TRL211",
        resumed(saved="dict(optimizer=optimizer.state_dict(), epoch=epoch)"),
        [],
    ),
}


@pytest.mark.parametrize(("code", "program", "expected"), CASES.values(), ids=CASES)
def test_lines_that_a_fix_writes(tmp_path: Path, code: str, program: str, expected: list[str]) -> None:
    main = tmp_path / "main.py"
    main.write_text(dedent(program), encoding="utf-8")
    found = check([main], {"profile": "strict", "select": [code]}).findings
    assert len(found) == 1
    fix = found[0].fix
    if not expected:
        assert fix is None and found[0].fix_declined
        return
    assert fix is not None and fix.applicability is Applicability.UNSAFE
    before, after = main.read_text(encoding="utf-8"), apply_edits(main.read_text(encoding="utf-8"), fix.edits)
    assert [line.strip() for line in after.splitlines() if line not in before.splitlines()] == expected
    main.write_text(after, encoding="utf-8")
    assert not check([main], {"profile": "strict", "select": [code]}).findings
