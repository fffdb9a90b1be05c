"""An option of the command line has one value in a run, whatever it is called: what asks for it to be set in the caller,
and what asks for it to be unset in the callee, never come together.
"""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_HEAD = """\
import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--wild", action="store_true")
parser.add_argument("--mode")
{before}args = parser.parse_args()


class Net(torch.nn.Module):
    def __init__(self, wild):
        super().__init__()
        self.wild = wild
        self.body = torch.nn.Conv2d(3, 3, 3)

    def forward(self, x):
        {layer}


def seed():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


{helper}


def main(args):
    {above}
    {call}
    net = Net(args.wild).cuda()
    net(torch.rand(2, 3, 8, 8).cuda()).sum().backward()
    torch.optim.SGD(net.parameters()).step()


main(args)
"""
_UP = 'F.interpolate(self.body(x), scale_factor=2, mode="bilinear")'
_PLAIN = {
    "before": "",
    "layer": "return self.body(x)",
    "helper": "def help(args): pass",
    "above": "pass",
    "call": "help(args)",
}
_SEEDED = "if not args.wild: seed(); torch.backends.cudnn.deterministic = True"
#: By rule: what is written where the option is set, and the same where it is not.
_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "TRL301": (
        {"above": _SEEDED, "helper": "def help(args):\n    if args.wild: torch.backends.cudnn.benchmark = True"},
        {"above": _SEEDED, "helper": "def help(args):\n    if not args.wild: torch.backends.cudnn.benchmark = True"},
    ),
    "TRL502": (
        {
            "above": "if args.mode != 'wild': torch.manual_seed(0)",
            "helper": "def help(mode):\n    if mode == 'wild': return np.random.rand()",
            "call": "print(help(args.mode))",
        },
        {
            "above": "if args.mode != 'wild': torch.manual_seed(0)",
            "helper": "def help(mode):\n    if mode == 'tame': return np.random.rand()",
            "call": "print(help(args.mode))",
        },
    ),
    "TRL502-in": (
        {
            "above": "if args.mode in ['tame', 'calm']: torch.manual_seed(0)",
            "helper": "def help(mode):\n    if mode in ('wild', 'loud'): return np.random.rand()",
            "call": "print(help(args.mode))",
        },
        {
            "above": "if args.mode in ['tame', 'calm']: torch.manual_seed(0)",
            "helper": "def help(mode):\n    if mode in ('wild', 'calm'): return np.random.rand()",
            "call": "print(help(args.mode))",
        },
    ),
    "TRL502-not-in": (
        {
            "above": "if args.mode not in ['wild', 'loud']: torch.manual_seed(0)",
            "helper": "def help(mode):\n    if mode == 'loud': return np.random.rand()",
            "call": "print(help(args.mode))",
        },
        {
            "above": "if args.mode not in ['wild', 'loud']: torch.manual_seed(0)",
            "helper": "def help(mode):\n    if mode == 'calm': return np.random.rand()",
            "call": "print(help(args.mode))",
        },
    ),
    "TRL504": (
        {
            "above": "if args.mode in ['wild', 'loud']: help(args.mode); seed()",
            "helper": "def help(mode):\n    if mode == 'tame': print(random.random())",
            "call": "pass",
        },
        {
            "above": "if args.mode in ['wild', 'loud']: help(args.mode); seed()",
            "helper": "def help(mode):\n    if mode == 'wild': print(random.random())",
            "call": "pass",
        },
    ),
    "TRL402": (
        {"above": _SEEDED, "layer": f"return {_UP} if self.wild else self.body(x)"},
        {"above": _SEEDED, "layer": f"return self.body(x) if self.wild else {_UP}"},
    ),
}


def _codes(write, parts: dict[str, str]) -> list[str]:
    text = _HEAD.format(**{**_PLAIN, **parts})
    return [one.code for one in check([write({"torchrepro-lint.toml": "", "train.py": text})]).findings]


@pytest.mark.parametrize("rule", _CASES)
def test_what_no_run_combines_is_not_reported(rule: str, write) -> None:
    apart, together = _CASES[rule]
    code = rule.partition("-")[0]
    assert code not in _codes(write, apart)
    assert code in _codes(write, together)


@pytest.mark.parametrize("rule", ["TRL301", "TRL502", "TRL502-in", "TRL402"])
def test_an_option_that_the_program_sets_may_have_both_values(rule: str, write) -> None:
    apart, _ = _CASES[rule]
    sets = "args.wild = not args.wild; args.mode = 'wild'"
    call = f"{sets}; {apart.get('call', 'help(args)')}"
    assert rule.partition("-")[0] in _codes(write, {**apart, "call": call})
