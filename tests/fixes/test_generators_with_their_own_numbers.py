"""A generator that is never seeded gives one and the same order, which its author may have wanted."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

PROGRAM = """\
import torch

torch.manual_seed(3)


def masked(size, fixed_seed=False, is_short=False):
    if {test}:
        return torch.randperm(size, generator=torch.Generator({number}))
    return torch.randperm(size)


print(masked(8, True, True), masked(8))
"""


@pytest.mark.parametrize(
    ("test", "number", "is_safe"),
    [
        ("is_short", "", True),
        ("fixed_seed", "", False),
        ("is_short and fixed_seed", "", False),
        ("is_short", "0", False),
        ("is_short", "device='cpu'", True),
    ],
)
def test_a_generator_for_numbers_that_stay(test: str, number: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": PROGRAM.format(test=test, number=number)})
    (found,) = check([root], {"select": ("TRL203",)}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe
