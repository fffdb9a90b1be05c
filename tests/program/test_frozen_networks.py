"""No gradient flows back through a frozen part of a network that is given data: only the backward pass of what follows
it would differ between runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import is_reported

_PROGRAM = """\
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True


def freeze(model):
    for p in model.parameters():
        p.requires_grad = False


class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3){chain}
        {init}
        self.head = nn.Conv2d(4, 1, 1)

    def switch(self):
        {method}

    def forward(self, x):
        x = self.body(x)
        x = F.interpolate(x, scale_factor=2, mode="bilinear")
        return self.head(x)


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3)
        {other}


net = {name}().cuda()
{script}
optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    net(torch.rand(2, 3, 8, 8).cuda()).sum().backward()
    optimizer.step()
"""
_PLAIN = {
    "name": "Net",
    "chain": "",
    "init": "pass",
    "method": "pass",
    "other": "pass",
    "script": "pass",
}
_LOOP = "for p in {}.parameters(): p.requires_grad = False"
_FROZEN = {
    "a call": {"init": "self.body.requires_grad_(False)"},
    "in the chain that makes it": {"chain": ".eval().requires_grad_(False)"},
    "a loop": {"init": _LOOP.format("self.body")},
    "a loop with names": {"init": "for name, p in self.body.named_parameters(): p.requires_grad_(False)"},
    "a helper": {"init": "freeze(self.body)"},
    "a method that is called": {"method": _LOOP.format("self.body"), "script": "net.switch()"},
    "from outside": {"script": _LOOP.format("net.body")},
}
_LIVE = {
    "nothing": {},
    "an option": {"init": "if sys.argv[1:]: self.body.requires_grad_(False)"},
    "thawed": {"init": "self.body.requires_grad_(False)", "script": "net.body.requires_grad_(True)"},
    "a method that nothing calls": {"method": _LOOP.format("self.body")},
    "the part of another class": {"other": "self.body.requires_grad_(False)"},
    "the other part": {"init": "self.tail = nn.Conv2d(1, 1, 1); self.tail.requires_grad_(False)"},
    "a loss, which is given what a network makes": {"name": "PerceptualLoss", "chain": ".requires_grad_(False)"},
}


@pytest.mark.parametrize("how", _FROZEN)
def test_a_frozen_part_that_is_given_data(how: str, tmp_path: Path) -> None:
    assert not is_reported(tmp_path, _PROGRAM.format(**{**_PLAIN, **_FROZEN[how]}), "TRL402")


@pytest.mark.parametrize("how", _LIVE)
def test_a_part_that_learns_or_may(how: str, tmp_path: Path) -> None:
    assert is_reported(tmp_path, _PROGRAM.format(**{**_PLAIN, **_LIVE[how]}), "TRL402")
