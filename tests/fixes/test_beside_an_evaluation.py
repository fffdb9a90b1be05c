"""Fixes beside what an evaluation takes from the global generators, and in copies that runs keep."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

HEAD = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
data = TensorDataset(torch.arange(64.0))
model = torch.nn.Linear(1, 1)
"""
TRAINS = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (batch,) in {}:
    optimizer.zero_grad()
    model(batch.unsqueeze(1)).sum().backward()
    optimizer.step()
"""


def _fixes(root, rule: str) -> list[bool]:
    """Whether the fix of each finding of a rule that is reported by default, or would be if it were safe, is safe."""
    found = [one for one in check([root]).found if one.code == rule]
    return [one.fix is not None and one.fix.applicability is Applicability.SAFE for one in found]


SHUFFLES = {"True": False, "False": True, "len(data) > 3": True}


@pytest.mark.parametrize(("shuffle", "is_safe"), SHUFFLES.items(), ids=SHUFFLES)
@pytest.mark.parametrize("place", ["in the same file", "in another one"])
def test_an_order_beside_that_of_a_validation(shuffle: str, is_safe: bool, place: str, write) -> None:
    valid = f"DataLoader(data, batch_size=8, shuffle={shuffle})"
    text = (
        f"{HEAD}\ntrain_loader = DataLoader(data, batch_size=4, shuffle=True)\n{{valid}}{TRAINS.format('train_loader')}"
    )
    text += "for (batch,) in valid_loader:\n    print(model(batch.unsqueeze(1)))\n"
    files = {"pyproject.toml": "", "train.py": text.format(valid=f"valid_loader = {valid}\n")}
    if place == "in another one":
        loaders = f"from torch.utils.data import DataLoader\n\n\ndef get_test_loader(data):\n    return {valid}\n"
        valid = "from loaders import get_test_loader\n\nvalid_loader = get_test_loader(data)\n"
        files |= {"train.py": text.format(valid=valid), "loaders.py": loaders}
    assert _fixes(write(files), "TRL201") == [is_safe]


def test_an_order_beside_a_program_that_only_evaluates(write) -> None:
    train = f"{HEAD}\ntrain_loader = DataLoader(data, batch_size=4, shuffle=True)\n{TRAINS.format('train_loader')}"
    other = (
        f"{HEAD}\nfor (batch,) in DataLoader(data, batch_size=4, shuffle=True):\n    print(model(batch.unsqueeze(1)))\n"
    )
    assert _fixes(write({"pyproject.toml": "", "train.py": train, "evaluate.py": other}), "TRL201") == [True]


WORKERS = f"""\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)
model = torch.nn.Linear(1, 1)


class Images(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return (torch.full((1,), np.random.normal() + index),)


train_loader = DataLoader(Images(), batch_size=4, num_workers=2)
val_loader = DataLoader({{data}}, batch_size=4, num_workers={{number}})
{TRAINS.format("train_loader").replace("batch.unsqueeze(1)", "batch.float()")}
for (batch,) in val_loader:
    print(model(batch.float()))
"""
VALIDATIONS = {"that draw": ("Images()", 2, False), "that do not": ("[1.0]", 2, True), "of none": ("Images()", 0, True)}


@pytest.mark.parametrize(("data", "number", "is_safe"), VALIDATIONS.values(), ids=VALIDATIONS)
def test_workers_beside_those_of_a_validation(data: str, number: int, is_safe: bool, write) -> None:
    files = {"pyproject.toml": "[project]\ndependencies = ['torch==1.8']"}
    root = write({**files, "train.py": WORKERS.format(data=data, number=number)})
    assert _fixes(root, "TRL101") == [is_safe]


LISTS = """\
import glob
import random

import torch

random.seed(0)
torch.manual_seed(0)


def names(root):
    found = glob.glob(root)
    random.shuffle(found)
    return found


print(names("images"), torch.rand(1))
"""


@pytest.mark.parametrize(
    ("folder", "is_safe"), [("snapshot/first", False), ("snapshots/first", False), ("first", True)]
)
def test_a_copy_in_a_snapshot(folder: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "lib/files.py": "print()\n", f"{folder}/lib/files.py": LISTS})
    assert _fixes(root, "TRL207") == [is_safe]


def test_a_module_for_snapshots(write) -> None:
    assert _fixes(
        write({"pyproject.toml": "", "lib/files.py": "print()\n", "snapshot/lib/others.py": LISTS}), "TRL207"
    ) == [True]
