"""Orders of the rows of a batch that a collate function draws, and what becomes of the rows (TRL101)."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return torch.full((4,), float(index)), index % 2


def permuted(rows):
    order = np.random.permutation(len(rows))
    rows = rows[order]
    return rows


def collate(batch):
    inputs = torch.stack([row for row, _ in batch])
    labels = torch.tensor([label for _, label in batch])
{body}


torch.manual_seed(0)
for inputs, *rest in DataLoader(Numbers(), batch_size=8, num_workers=2, collate_fn=collate):
    print(inputs.mean().item())
"""
_DRAWN = "order = np.random.permutation(len(inputs))\n"
_BOTH = f"{_DRAWN}inputs = inputs[order]\nlabels = labels[order]\n"


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        (f"{_BOTH}return inputs, labels", False),
        (f"{_BOTH}return {{'inputs': inputs, 'labels': labels}}", False),
        (f"{_BOTH}print(len(inputs))\nreturn [inputs, (labels,)]", False),
        (f"{_BOTH}return inputs[:4], labels[:4], inputs[4:], labels[4:]", True),
        (f"{_BOTH}inputs = inputs[:4]\nreturn inputs, labels", True),
        (f"{_BOTH}return torch.stack([inputs[1:], inputs[:-1]]), labels", True),
        (f"{_DRAWN}labels = labels[order]\nreturn inputs, labels", True),
        (f"{_DRAWN}inputs = inputs[order]\nif batch:\n    labels = labels[order]\nreturn inputs, labels", True),
        (f"others = inputs.clone()\n{_DRAWN}others = others[order]\nreturn (inputs + others) / 2, labels", True),
        (f"others = inputs.clone()\n{_DRAWN}others = others[order]\nreturn others, inputs", True),
        ("return (inputs + permuted(inputs)) / 2, labels", True),
    ],
)
def test_rows_in_another_order(body: str, is_told: bool, write) -> None:
    text = _PROGRAM.format(body="\n".join(f"    {line}" for line in body.splitlines()))
    settings = 'target-torch = "==1.8.1"\nselect = ["TRL101"]'
    assert bool(check([write({"torchrepro-lint.toml": settings, "train.py": text})]).findings) is is_told
