"""What counts as a generator of which workers have copies: the body of a dataset, and the draws that are found."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from torchrepro_lint.program.program import Program
from torchrepro_lint.program.workers.held_generators import held_generators
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch

HEAD = """\
import functools
import os
import random

import numpy as np
import torch
from scipy import stats
from torch.utils.data import DataLoader, Dataset, get_worker_info

GENERATORS = {}
shared = np.random.default_rng(1)


def draw(rng=None):
    if rng is None:
        rng = np.random.default_rng()
    return rng.random()


class Data(Dataset):
    def __len__(self):
        return 8
"""
HELD = {
    "made in __init__": """
        def __init__(self):
            self.rng = np.random.default_rng(0)
        def __getitem__(self, index):
            return self.rng.random()
        """,
    "made at class level": """
        rng = random.Random(0)
        def __getitem__(self, index):
            return self.rng.random()
        """,
    "made at module level": """
        def __getitem__(self, index):
            return shared.random()
        """,
    "a default argument": """
        def __getitem__(self, index, rng=np.random.RandomState(0)):
            return rng.rand()
        """,
    "handed to a function that makes one where none is given": """
        def __init__(self):
            self.rng = np.random.default_rng(0)
        def __getitem__(self, index):
            return draw(self.rng)
        """,
    "handed to torch": """
        def __init__(self):
            self.g = torch.Generator().manual_seed(3)
        def __getitem__(self, index):
            return torch.rand(2, generator=self.g)
        """,
    "handed to a library": """
        def __init__(self):
            self.state = np.random.RandomState(3)
        def __getitem__(self, index):
            return stats.norm.rvs(size=2, random_state=self.state)
        """,
    "a bound method that is kept": """
        def __init__(self):
            self.uniform = np.random.default_rng(0).uniform
        def __getitem__(self, index):
            return self.uniform()
        """,
    "made by a method that __init__ calls": """
        def __init__(self):
            self.reset()
        def reset(self):
            self.rng = random.Random(1)
        def __getitem__(self, index):
            return self.rng.random()
        """,
    "behind a property": """
        def __init__(self):
            self._rng = random.Random(1)
        @property
        def rng(self):
            return self._rng
        def __getitem__(self, index):
            return self.rng.random()
        """,
}
NOT_HELD = {
    "made for each item": """
        def __getitem__(self, index):
            return np.random.default_rng(index).random()
        """,
    "made on first use": """
        rng = None
        def __getitem__(self, index):
            if self.rng is None:
                self.rng = np.random.default_rng(torch.initial_seed())
            return self.rng.random()
        """,
    "made again in the worker": """
        def __init__(self):
            self.rng = np.random.default_rng(0)
            self.fresh = False
        def __getitem__(self, index):
            if not self.fresh:
                self.rng = np.random.default_rng(get_worker_info().seed)
                self.fresh = True
            return self.rng.random()
        """,
    "seeded in the worker": """
        def __init__(self):
            self.rng = random.Random()
        def __getitem__(self, index):
            self.rng.seed(index)
            return self.rng.random()
        """,
    "one for each process": """
        def __getitem__(self, index):
            rng = GENERATORS.get(os.getpid())
            if rng is None:
                rng = GENERATORS[os.getpid()] = np.random.default_rng(torch.initial_seed())
            return rng.random()
        """,
    "drawn from by the main process": """
        def __init__(self):
            self.rng = random.Random(0)
            self.order = self.rng.sample(range(8), 8)
        def __getitem__(self, index):
            return self.order[index]
        """,
    "only read": """
        def __init__(self):
            self.rng = random.Random(0)
        def __getitem__(self, index):
            return hash(self.rng.getstate())
        """,
    "where nobody draws": """
        def __init__(self, draw=False):
            self.rng = random.Random(0)
            self.draw = draw
        def __getitem__(self, index):
            return self.rng.random() if self.draw else index
        """,
}


def held(body: str, folder: Path, loader: str = "DataLoader(Data(), num_workers=2)") -> list[str]:
    """The types of the generators that the loader's workers have copies of."""
    path = folder / "program.py"
    path.write_text(HEAD + indent(dedent(body), "    ") + f"\nloader = {loader}\n", encoding="utf-8")
    program = Program(folder, [path], Settings(), TargetTorch())
    (only,) = program.loaders
    return [one.type for one in held_generators(program, only)]


@pytest.mark.parametrize("body", HELD.values(), ids=HELD)
def test_held(body: str, tmp_path: Path) -> None:
    assert len(held(body, tmp_path)) == 1


@pytest.mark.parametrize("body", NOT_HELD.values(), ids=NOT_HELD)
def test_not_held(body: str, tmp_path: Path) -> None:
    assert held(body, tmp_path) == []


def test_two_generators_are_two(tmp_path: Path) -> None:
    body = """
        def __init__(self):
            self.first, self.second = np.random.default_rng(0), random.Random(0)
        def __getitem__(self, index):
            return self.first.random() + self.second.random() + self.first.normal()
        """
    assert sorted(held(body, tmp_path)) == ["numpy.random.Generator", "random.Random"]


INITS = {
    "through the worker info": "lambda worker_id: setattr(get_worker_info().dataset, 'rng', random.Random(worker_id))",
    "by a method of the dataset": "Data().reseed",
    "unknown": "os.environ.reseed",
}


@pytest.mark.parametrize("init", INITS.values(), ids=INITS)
def test_reseeded_by_the_init_function(init: str, tmp_path: Path) -> None:
    body = """
        def __init__(self):
            self.rng = random.Random(0)
        def reseed(self, worker_id):
            self.rng = random.Random(torch.initial_seed())
        def __getitem__(self, index):
            return self.rng.random()
        """
    assert held(body, tmp_path, f"DataLoader(Data(), num_workers=2, worker_init_fn={init})") == []
    assert held(body, tmp_path, "DataLoader(Data(), num_workers=2, worker_init_fn=lambda i: np.random.seed(i))") != []
