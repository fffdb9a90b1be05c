"""A call that nothing it may mean can take raises a TypeError: what it would run never runs from there."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

PROGRAM = """\
import functools
import numpy as np
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def jitter(size, scale=1.0, *, low=0.0):
    return low + scale * np.random.rand(size)


def shift(size):
    return np.random.rand(size)


def anything(*args, **kwargs):
    return np.random.rand(2)


@functools.lru_cache
def cached(size):
    return np.random.rand(size)


class Net(nn.Module):
    def forward(self, x, gain):
        return x * gain * np.random.rand()


class Maker:
    def make(self, size):
        return np.random.rand(size)

    @staticmethod
    def alone(size):
        return np.random.rand(size)

    @classmethod
    def of_class(cls, size):
        return np.random.rand(size)


class Items(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {}


for batch in DataLoader(Items(), num_workers=2):
    print(batch)
"""
CALLS = {
    "too many": ("jitter(1, 2, 3)", "jitter(1, 2)"),
    "too few": ("jitter()", "jitter(1)"),
    "an unknown keyword": ("jitter(1, high=2)", "jitter(1, low=2)"),
    "one that must be named": ("shift(1, low=2)", "shift(size=1)"),
    "none of two": (
        "(jitter if len(sys.argv) > 1 else shift)(1, high=2)",
        "(jitter if len(sys.argv) > 1 else shift)(1, 2)",
    ),
    "a method": ("Maker().make(1, 2)", "Maker().make(1)"),
    "a network": ("Net()(1)", "Net()(1, 2)"),
    "none beside what is unknown": ("", "(sys.argv[0] or jitter)(1)"),
    "any": ("", "anything(1, 2, high=3)"),
    "a star": ("", "jitter(*sys.argv)"),
    "two stars": ("", "jitter(**{sys.argv[0]: 1})"),
    "decorated": ("", "cached(size=1)"),
    "static": ("", "Maker.alone(1)"),
    "static, of an object": ("", "Maker().alone(1)"),
    "of the class": ("", "Maker.of_class(1)"),
    "unbound": ("", "Maker.make(Maker(), 1)"),
    "partial": ("", "functools.partial(jitter, 1)()"),
    "mapped": ("", "list(map(shift, [1]))"),
}


@pytest.mark.parametrize("how", CALLS)
def test_a_call_that_nothing_can_take(how: str, write) -> None:
    def codes(call: str) -> list[str]:
        path = write({"torchrepro-lint.toml": 'target-torch = ">=1.7"', "train.py": PROGRAM.format(call)})
        return sorted({one.code for one in check([path]).findings})

    raises, runs = CALLS[how]
    assert codes(runs) == ["TRL101"]
    if raises:
        assert codes(raises) == []
