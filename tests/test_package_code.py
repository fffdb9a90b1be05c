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


_HEADS = """
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, rows):
        return self.layer(rows)


def make_head():
    return Head()
"""
_TRAINING = """
import torch
from shelf.heads import Head, make_head

model = {made}
torch.manual_seed(0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 4)).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize(
    ("settings", "made", "expected"),
    [
        (_BUILT, "make_head()", []),
        (_BUILT, "Head()", ["TRL504"]),
        ("", "make_head()", ["TRL504"]),
    ],
    ids=["made inside a package", "made in the program", "made in another file"],
)
def test_a_network_that_is_made_before_the_seed(write, settings: str, made: str, expected: list[str]) -> None:
    root = write(
        {
            "pyproject.toml": settings,
            "shelf/__init__.py": "",
            "shelf/heads.py": _HEADS,
            "examples/train.py": _TRAINING.format(made=made),
        }
    )
    assert [one.code for one in check([root], {"select": ("TRL504",)}).findings] == expected
