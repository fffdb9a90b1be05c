"""Weights that are drawn before the seed, and all set anew below it: nothing of the first ones is trained (TRL504)."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """\
import torch
from torch import nn


def seed_all(seed):
    torch.manual_seed(seed)


def train(model):
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(3):
        model(torch.ones(2, 4)).sum().backward()
        opt.step()


model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).cpu()
for trial in range(3):
    {before}
    seed_all(trial)
    {loop}
{body}
    {after}
    train(model)
"""
_NAMED = "for name, p in model.named_parameters():"
_ALL = "for p in model.parameters():"
_BY_NAME = """\
if name.endswith("weight"):
    if "0" in name:
        p.data.zero_()
    else:
        p.data.normal_(std=0.1)
elif name.endswith("bias"):
    p.data.zero_()
else:
    raise ValueError(name)
"""


def _is_told(write, loop: str, body: str, before: str = "pass", after: str = "pass") -> bool:
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    text = _PROGRAM.format(loop=loop, body=indented, before=before, after=after)
    settings = 'target-torch = ">=1.7"\nselect = ["TRL504"]'
    return bool(check([write({"torchrepro-lint.toml": settings, "train.py": text})]).findings)


@pytest.mark.parametrize(
    ("loop", "body", "is_told"),
    [
        (_NAMED, _BY_NAME, False),
        (_NAMED, _BY_NAME.replace("raise ValueError(name)", "print(name)"), True),
        (_NAMED, _BY_NAME.replace("raise ValueError(name)", "continue"), True),
        (_NAMED, _BY_NAME.replace("p.data.zero_()", "p.data.mul_(2)", 1), True),
        (_NAMED, "name.fill_(0)", True),
        (_ALL, "p.data.uniform_(-0.1, 0.1)", False),
        (_ALL, "nn.init.normal_(p, std=0.02)", False),
        (_ALL, "nn.init.normal_(model[0].bias, std=0.02)", True),
        (_ALL, "with torch.no_grad():\n    p.fill_(0.5)", False),
        (_ALL, "p.data = torch.randn_like(p)", False),
        (_ALL, "if p.dim() > 1:\n    nn.init.xavier_uniform_(p)", True),
        (_ALL, "if p.dim() > 1:\n    nn.init.xavier_uniform_(p)\nelse:\n    nn.init.zeros_(p)", False),
        (_ALL, "if p.dim() < 2:\n    continue\nnn.init.xavier_uniform_(p)", True),
        (_ALL, "p.data.add_(torch.randn_like(p))", True),
        (_ALL, "p.requires_grad_(True)", True),
        (_ALL, "p.data = p.data.float()", True),
        (_ALL, "p.data = torch.randn(p.size()) * 0.1", False),
        (_ALL, "p.data.copy_(p.data.clamp(-0.1, 0.1))", True),
        (_ALL, "p.data.copy_(p.new_empty(p.shape).normal_())", False),
        (_ALL, "std = p.std().item()\nnn.init.normal_(p, std=std)", True),
        (_ALL, "std = p.size(0) ** -0.5\nnn.init.normal_(p, std=std)", False),
        (_ALL, "torch.normal(p, 0.1)", True),
        (_ALL, "p.data.normal_()\nif p.dim() == 1:\n    break", True),
        ("for p in model[0].parameters():", "p.data.normal_()", True),
        ("for p in list(model.parameters())[2:]:", "p.data.normal_()", True),
        ("for p in other.parameters():", "p.data.normal_()", True),
    ],
)
def test_a_loop_over_the_parameters(loop: str, body: str, is_told: bool, write) -> None:
    assert _is_told(write, loop, body) is is_told


def test_a_loop_before_the_seed_or_below_the_training(write) -> None:
    loop = f"{_ALL} p.data.normal_()"
    assert _is_told(write, "if True:", "pass", before=loop)
    assert _is_told(write, "if True:", "pass", after=f"train(model)\n    {loop}")
    assert not _is_told(write, "if True:", "pass", after=loop)


@pytest.mark.parametrize(
    ("drawn", "is_told"),
    [
        ("self.register_buffer('projection', torch.randn(4, 4))", True),
        ("self.mask = torch.rand(4) > 0.5", True),
        ("self.scale = nn.Parameter(torch.randn(4))", False),
        ("self.layer = nn.Linear(4, 4)", False),
    ],
)
def test_what_is_drawn_for_no_parameter_is_left(drawn: str, is_told: bool, write) -> None:
    network = f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {drawn}\n"
    text = _PROGRAM.format(loop=_ALL, body="        p.data.normal_()", before="pass", after="pass")
    text = text.replace("nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).cpu()", "Net()")
    text = text.replace("\n\ndef seed_all", f"\n\n{network}\n\ndef seed_all")
    settings = 'target-torch = ">=1.7"\nselect = ["TRL504"]'
    findings = check([write({"torchrepro-lint.toml": settings, "train.py": text})]).findings
    assert bool(findings) is is_told
