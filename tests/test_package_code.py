"""What the default profile says of a package that the project builds, where no seed can be written."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_BUILT = "[build-system]\nrequires = []\n[project]\nname = 'shelf'\nversion = '1'\n"
_SAMPLERS = """
from torch.utils.data import SubsetRandomSampler


def batches_of(bucket):
    yield from SubsetRandomSampler(bucket)
"""
_PROGRAM = """
import torch
from shelf.samplers import batches_of

torch.manual_seed(0)
for epoch in range(3):
    for batch in batches_of([1, 2, 3, 4]):
        print(batch)
"""


@pytest.mark.parametrize("settings", [_BUILT, ""], ids=["a package", "a program"])
def test_a_sampler_that_no_seed_can_be_written_for(write, settings: str) -> None:
    root = write(
        {
            "pyproject.toml": settings,
            "shelf/__init__.py": "",
            "shelf/samplers.py": _SAMPLERS,
            "examples/run.py": _PROGRAM,
        }
    )
    assert not check([root]).findings
    assert [one.code for one in check([root], {"select": ("TRL202",)}).findings] == ["TRL202"]
