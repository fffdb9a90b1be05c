"""A generator that a function makes begins anew in each call: there is none where a call goes on with a training."""

from __future__ import annotations

import pytest

from torchrepro_lint.fix_loop import fix

PROGRAM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader


def fit(net, rate, rounds=1):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    loader = DataLoader(torch.arange(12.0), batch_size=4, shuffle=True)
    for epoch in range(2):
        for x in loader:
            optimizer.zero_grad()
            net(x[:, None]).mean().backward()
            optimizer.step()
    {last}


class Trainer:
    def __init__(self):
        self.net = nn.Linear(1, 1)

    def fit(self, rate):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=rate)
        loader = DataLoader(torch.arange(12.0), batch_size=4, shuffle=True)
        for epoch in range(2):
            for x in loader:
                optimizer.zero_grad()
                self.net(x[:, None]).mean().backward()
                optimizer.step()


def main():
    torch.manual_seed(3)
    {calls}


main()
"""
LOCAL, KEPT = "    g.manual_seed(torch.initial_seed())", "self.loader_generator.manual_seed(torch.initial_seed())"
SHAPES = {
    "one training": ("fit(nn.Linear(1, 1), 0.1)", "", LOCAL),
    "one model, trained further": ("net = nn.Linear(1, 1)\n    fit(net, 0.1)\n    fit(net, 0.01)", "", None),
    "two models": ("one, other = nn.Linear(1, 1), nn.Linear(1, 1)\n    fit(one, 0.1)\n    fit(other, 0.1)", "", LOCAL),
    "a function that calls itself": (
        "fit(nn.Linear(1, 1), 0.1, 3)", "if rounds > 1:\n        fit(net, rate, rounds - 1)", None
    ),
    "one object": ("made = Trainer()\n    made.fit(0.1)\n    made.fit(0.01)", "", KEPT),
    "two objects": ("one, other = Trainer(), Trainer()\n    one.fit(0.1)\n    other.fit(0.1)", "", LOCAL),
}  # fmt: skip


@pytest.mark.parametrize(("calls", "last", "seeds"), SHAPES.values(), ids=SHAPES)
def test_a_training_that_goes_on(calls: str, last: str, seeds: str | None, write) -> None:
    text = PROGRAM.format(last=last or 'print("done")', calls=calls)
    head, _, tail = text.partition("class Trainer")
    text = head + "def main" + tail.partition("def main")[2] if "Trainer" not in calls else text
    if "Trainer" in calls:
        text = text.partition("def fit(net")[0] + "class Trainer" + tail
    root = write({"pyproject.toml": "", "train.py": text})
    fix([root], {"profile": "strict"})
    found = (root / "train.py").read_text()
    assert found.count("initial_seed()") == (seeds is not None)
    assert seeds is None or seeds in found
