"""What the default profile says of loaders and listings that only programs of an evaluation make."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_SHARED = """
import os
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Images(Dataset):
    def __init__(self, root):
        self.files = os.listdir(root)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.files[index]


def batches(root):
    return DataLoader(Images(root), shuffle=True)


def some(root):
    return RandomSampler(Images(root))
"""
_PROGRAM = """
import torch
from shared import batches, some

torch.manual_seed(0)
for batch in batches("images"):
    print(batch)
for index in some("images"):
    print(index)
"""


@pytest.mark.parametrize("name", ["eval.py", "compute_accuracy.py", "extract_features.py", "infer_depth.py"])
def test_what_only_evaluations_make_is_of_the_strict_profile(write, name: str) -> None:
    root = write({"torchrepro-lint.toml": "", "shared.py": _SHARED, name: _PROGRAM})
    assert check([root]).findings == ()
    found = {one.code for one in check([root], {"profile": "strict"}).findings}
    assert found >= {"TRL201", "TRL202", "TRL207"}


@pytest.mark.parametrize("name", ["train.py", "main.py", "train_and_evaluate.py", "latest.py"])
def test_what_a_training_makes_as_well_is_reported(write, name: str) -> None:
    root = write({"torchrepro-lint.toml": "", "shared.py": _SHARED, "eval.py": _PROGRAM, name: _PROGRAM})
    assert {one.code for one in check([root]).found} == {"TRL201", "TRL207"}
