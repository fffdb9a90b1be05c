"""Checkpoints that hold the state of a scheduler under any key, and resuming that cannot read what is saved."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

PROGRAM = """
import sys
import torch
from torch import nn

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
after = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)


class Trainer:
    def __init__(self, after):
        self.after = after

    def states(self):
        return {{"optimizer": optimizer.state_dict(), "epoch": 3{held}}}


def resume():
    checkpoint = torch.load("last.pt")
    optimizer.load_state_dict(checkpoint["optimizer"])
    {read}
    return checkpoint["epoch"] + 1


trainer = Trainer(after)
for epoch in range(resume(), 10):
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    after.step()
    torch.save({saved}, "last.pt")
"""


@pytest.mark.parametrize(
    ("held", "read", "saved", "expected"),
    [
        ("", "pass", "trainer.states()", 1),
        (', "third": self.after.state_dict()', "pass", "trainer.states()", 0),
        (', "third": model.state_dict()', "pass", "trainer.states()", 1),
        ("", 'best = checkpoint["best"]', "trainer.states()", 0),
        (', "best": 3', 'best = checkpoint["best"]', "trainer.states()", 1),
        ("", 'best = checkpoint["best"]', "{**trainer.states(), **vars(sys)}", 1),
        ("", 'best = checkpoint["best"] if "best" in checkpoint else 0', "trainer.states()", 1),
        ("", 'best = "best" in checkpoint and checkpoint["best"]', "trainer.states()", 1),
        ("", 'if "best" in checkpoint:\n        best = checkpoint["best"]', "trainer.states()", 1),
        ("", 'checkpoint["best"] = 3\n    best = checkpoint["best"]', "trainer.states()", 1),
        ("", 'checkpoint = dict(checkpoint, best=3)\n    best = checkpoint["best"]', "trainer.states()", 1),
        ("", 'best = checkpoint.get("best")', "trainer.states()", 1),
    ],
)
def test_what_a_resumed_run_lacks(held: str, read: str, saved: str, expected: int, write) -> None:
    root = write({"pyproject.toml": "", "train.py": PROGRAM.format(held=held, read=read, saved=saved)})
    assert len(check([root], {"select": ("TRL211",)}).findings) == expected
