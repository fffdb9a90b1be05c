"""The flag for all operations beside cuDNN's own switch (TRL302), and where it is turned on again (TRL303)."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_CUDNN = """\
import argparse
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

import torch
from torch.backends import cudnn

parser = argparse.ArgumentParser()
parser.add_argument("--strict", action="store_true")
args = parser.parse_args()
torch.manual_seed(0)


def setup(strict):
    cudnn.deterministic = True
{body}


setup(args.strict)
cudnn.deterministic = False
print(torch.nn.Conv1d(1, 1, 3).cuda()(torch.ones(1, 1, 8).cuda()))
"""
_FLAG = "torch.use_deterministic_algorithms(True)\n"


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        (_FLAG, False),
        (f"if hasattr(torch, 'use_deterministic_algorithms'):\n    {_FLAG}", False),
        (f"try:\n    {_FLAG}except AttributeError:\n    pass", False),
        (f"try:\n    import strictly\n    {_FLAG}except ImportError:\n    pass", True),
        (f"if hasattr(args, 'everything'):\n    {_FLAG}", True),
        (f"if not hasattr(torch, 'compile'):\n    {_FLAG}", True),
        (f"if hasattr(torch, 'compile'):\n    pass\nelse:\n    {_FLAG}", True),
        (f"if not strict:\n    return\n{_FLAG}", True),
    ],
)
def test_a_flag_of_some_runs(body: str, is_told: bool, write) -> None:
    text = _CUDNN.format(body="\n".join(f"    {line}" for line in body.splitlines()))
    findings = check([write({"torchrepro-lint.toml": 'select = ["TRL302"]', "main.py": text})]).findings
    assert bool(findings) is is_told


_CUBLAS = """\
import sys

import torch

torch.manual_seed(0)
is_on = torch.are_deterministic_algorithms_enabled()
{between}
if is_on:
    torch.use_deterministic_algorithms(True)
print(torch.nn.Linear(2, 2).cuda()(torch.ones(2).cuda()))
"""


@pytest.mark.parametrize(("between", "is_told"), [("", False), ("if sys.argv[1:]:\n    is_on = True", True)])
def test_a_name_that_may_hold_more_than_the_answer(between: str, is_told: bool, write) -> None:
    settings = 'target-torch = "==2.0.0"\nselect = ["TRL303"]'
    text = _CUBLAS.format(between=between)
    assert bool(check([write({"torchrepro-lint.toml": settings, "main.py": text})]).findings) is is_told
