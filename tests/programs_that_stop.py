"""Programs that stop: a data set whose items draw from NumPy in workers, and which rules report what is below it."""

from __future__ import annotations

from torchrepro_lint.engine import check

HEAD = """\
import contextlib
import os
import sys
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Items(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand()

"""

TARGET = 'target-torch = ">=1.7"'


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def codes(write, text: str) -> list[str]:
    report = check([write({"torchrepro-lint.toml": TARGET, "train.py": text})])
    return sorted({one.code for one in report.findings})
