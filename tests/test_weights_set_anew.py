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
