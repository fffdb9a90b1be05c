"""A safe fix is unsafe beside what the project keeps of its kind, in any of its files: no half of a mend is made."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

SAFE = """\
import os
import random

import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)
random.seed(3)
"""
LISTS = SAFE + "names = [one for one in os.listdir('images')]\nloader = DataLoader(names)\nprint(list(loader))\n"
#: What another file has: a listing that is sorted below only if an option says so, and one that is sorted.
OTHER = """\
import os
import sys

import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)


def frames(folder):
    found = {}
    return DataLoader(found)


print(list(frames(sys.argv[1])))
"""
LISTINGS = {
    "no safe fix": ("[os.path.join(top, one) for top, _, files in os.walk(folder) for one in files]", False),
    "safe as well": ("[one for one in os.listdir(folder)]", True),
    "sorted": ("sorted(os.listdir(folder))", True),
}


def _is_safe(root, rule: str, path: str = "train.py") -> bool:
    (found,) = [one for one in check([root]).findings if one.code == rule and one.location.path.name == path]
    return found.fix is not None and found.fix.applicability is Applicability.SAFE


@pytest.mark.parametrize(("listing", "is_safe"), LISTINGS.values(), ids=LISTINGS)
def test_a_listing_beside_another(listing: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": OTHER.format(listing)})
    assert _is_safe(root, "TRL207") is is_safe


def test_a_listing_in_a_file_that_is_checked_alone(write) -> None:
    root = write({"pyproject.toml": "", "train.py": LISTS, "other.py": OTHER.format(LISTINGS["no safe fix"][0])})
    (found,) = check([root / "train.py"]).findings
    assert found.fix is not None and found.fix.applicability is Applicability.UNSAFE


SWITCH = """\
import torch

torch.manual_seed(3)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True
print(torch.nn.Conv2d(1, 1, 3)(torch.ones(1, 1, 4, 4)).shape)
"""
TRAINER = """\
import torch
from pytorch_lightning import Trainer

torch.manual_seed(3)
torch.backends.cudnn.deterministic = True
options = {"benchmark": True}
Trainer(**options)
"""


@pytest.mark.parametrize(("other", "is_safe"), [(TRAINER, False), ("import torch\n", True)])
def test_the_benchmark_mode_beside_one_that_is_left(other: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": SWITCH, "tune.py": other})
    assert _is_safe(root, "TRL301") is is_safe
