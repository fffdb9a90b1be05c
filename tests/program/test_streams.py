"""Which streams every worker reads in full: the body of an iterable dataset, and whether it is one."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from torchrepro_lint.program.program import Program
from torchrepro_lint.program.workers.streams import whole_streams
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch

HEAD = """\
import csv
import itertools
import os
import random
import sys

import datasets
import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


def lines(path):
    with open(path) as file:
        for line in file:
            yield line


class Inner(IterableDataset):
    def __iter__(self):
        return iter(itertools.islice([1, 2, 3], get_worker_info().id, None, 2))


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index


class Stream(IterableDataset):
    def __init__(self, rows=(1, 2, 3)):
        self.rows = rows
        self.frame = pd.read_csv("rows.csv")
        self.inner = Inner()
        self.dataset = Rows()
"""
WHOLE = {
    "a list": "for row in self.rows:\n    yield row",
    "enumerated": "for number, row in enumerate(sorted(self.rows)):\n    yield number, row",
    "by index": "for index in range(len(self.rows)):\n    yield self.rows[index]",
    "of a dataset": "for index in range(len(self.dataset)):\n    yield self.dataset[index]",
    "a file": "with open('rows.csv') as file:\n    for row in csv.reader(file):\n        yield row",
    "lines by a function": "yield from lines('rows.txt')",
    "a frame": "for row in self.frame.itertuples():\n    yield row",
    "an iterator": "return iter(self.rows)",
    "mapped": "return map(str, self.rows)",
    "a comprehension": "return (row * 2 for row in self.rows)",
    "files of a folder": "for name in os.listdir('.'):\n    yield from lines(name)",
    "an endless one, in order": "while True:\n    for row in self.rows:\n        yield row",
    "an early end": "if not sys.argv[1:]:\n    return\nreturn iter(self.rows)",
    "gathered from what is there": "rows = []\nfor row in self.rows:\n    rows.append(row)\nyield from rows",
    "beside something unknown": "rows = self.rows\nfor name in sys.argv[1].rows:\n    print(name)\nyield from rows",
    "a list's own iterator": "yield from [*self.rows, 4].__iter__()",
    "a dict's own iterator": "yield from {'a': 1, 'b': 2}.__iter__()",
    "a part, not by worker": "for row in self.rows[self.start :: 2]:\n    yield row",
}
NOT_WHOLE = {
    "numbers": "for number in range(8):\n    yield number",
    "counting": "for number in itertools.count():\n    yield number",
    "draws": "while True:\n    yield torch.rand(2)",
    "endless at random": "while True:\n    for row in random.sample(self.rows, 3):\n        yield row",
    "by the worker": "for row in self.rows[get_worker_info().id :: get_worker_info().num_workers]:\n    yield row",
    "by an attribute of that name": "for row in self.rows[self.worker_id :: 2]:\n    yield row",
    "by process": "yield self.rows[os.getpid() % 2]",
    "a stream that shards": "yield from self.inner",
    "a stream that shards, in a loop": "for row in self.inner:\n    yield row",
    "a library's": "for row in datasets.load_dataset('rows', streaming=True):\n    yield row",
    "where it never comes to": "if False:\n    return iter(self.rows)\nreturn itertools.count()",
    "gathered from elsewhere": "rows = []\nfor row in sys.argv[1].rows:\n    rows.append(row)\nyield from rows",
    "a method that its class lacks": "class Plain:\n    pass\n\nyield from Plain().missing()",
    "a method of a library's": "yield from datasets.load_dataset('rows').shuffle(3)",
    "unknown": "for row in sys.argv[1].rows:\n    yield row",
    "without a loop": "yield self.rows[0]",
}


def whole(body: str, folder: Path, loader: str = "DataLoader(Stream(), num_workers=2)") -> int:
    """How many of the loader's datasets are read in full."""
    method = "def __iter__(self):\n" + indent(dedent(body), "    ")
    path = folder / "program.py"
    path.write_text(HEAD + "\n" + indent(method, "    ") + f"\n\nloader = {loader}\n", encoding="utf-8")
    program = Program(folder, [path], Settings(), TargetTorch())
    (only,) = program.loaders
    return len(list(whole_streams(program, only)))


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_whole(body: str, tmp_path: Path) -> None:
    assert whole(body, tmp_path) == 1


@pytest.mark.parametrize("body", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_not_whole(body: str, tmp_path: Path) -> None:
    assert whole(body, tmp_path) == 0


@pytest.mark.parametrize(
    "loader",
    [
        "DataLoader(Rows(), num_workers=2)",
        "DataLoader(Stream(datasets.load_dataset('rows')), num_workers=2)",
        "DataLoader(Stream(), num_workers=2, worker_init_fn=lambda i: get_worker_info().dataset.rows.pop(i))",
    ],
)
def test_other_loaders(loader: str, tmp_path: Path) -> None:
    assert whole("yield from self.rows", tmp_path, loader) == 0
