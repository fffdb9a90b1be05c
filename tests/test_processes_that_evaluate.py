"""Processes that begin afresh in a program that seeds: the first weights of models that are only evaluated."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

PROGRAM = """\
import torch
import torch.multiprocessing as mp
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, rows):
        return self.layer(rows)


def work(rank):
    net = Net()
    {load}
    print({use})


def fit(net, rows):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(rows).sum()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    mp.spawn(work, nprocs=2)
"""
LOAD = 'net.load_state_dict(torch.load("net.pt"))'
PERHAPS = 'if rank == 0:\n        net.load_state_dict(torch.load("net.pt"))'
ASK = "net(torch.ones(1, 3))"
FIT = "fit(net, torch.ones(1, 3))"
DRAW = "net(torch.randn(1, 3))"


@pytest.mark.parametrize(
    ("name", "load", "use", "expected"),
    [
        ("main.py", LOAD, FIT, []),
        ("main.py", LOAD, ASK, []),
        ("main.py", PERHAPS, FIT, ["TRL502"]),
        ("main.py", "pass", FIT, ["TRL502"]),
        ("main.py", LOAD, DRAW, ["TRL502"]),
        ("eval.py", PERHAPS, ASK, []),
        ("evaluate_crops.py", PERHAPS, ASK, []),
        ("eval.py", LOAD, DRAW, ["TRL502"]),
        ("eval.py", PERHAPS, DRAW, ["TRL502"]),
    ],
)
def test_first_weights_that_are_loaded_over_or_only_evaluated(
    write, name: str, load: str, use: str, expected: list[str]
) -> None:
    text = PROGRAM.format(load=load, use=use)
    root = write({"torchrepro-lint.toml": "", "requirements.txt": "torch>=2.0\n", name: text})
    assert [one.code for one in check([root]).findings if one.code == "TRL502"] == expected
