"""Which draws of the workers are decided by a seed that each item sets from its index."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from torchrepro_lint.program.program import Program
from torchrepro_lint.program.workers.index_seeds import draws_left
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch

HEAD = """\
import sys
import time
from contextlib import contextmanager

import numpy as np
from torch.utils.data import DataLoader, Dataset


def noise():
    return np.random.randn()


def seed_with(seed, *others):
    np.random.seed(sum(others, seed))


@contextmanager
def seeded(seed):
    state = np.random.get_state()
    np.random.seed(seed)
    yield
    np.random.set_state(state)


class Data(Dataset):
    def __init__(self, train, epoch):
        self.train = train
        self.epoch = epoch

    def __len__(self):
        return 8

    def __getitem__(self, index):
"""
DECIDED = {
    "the index": "np.random.seed(index)\nreturn np.random.rand()",
    "something made of it": "seed = int(time.time()) + index\nnp.random.seed(seed % 2**31)\nreturn np.random.rand()",
    "in a function below": "np.random.seed(self.epoch * 8 + index)\nreturn noise()",
    "by a function": "seed_with(self.epoch, index)\nreturn noise()",
    "by a context manager": "with seeded(self.epoch + index):\n    return noise()",
    "where the draw is": "if index > 3:\n    np.random.seed(index)\n    return noise()\nreturn 0",
    "where the arguments say so": "if not self.train:\n    np.random.seed(index)\nreturn noise()",
}
LEFT = {
    "not the index": "np.random.seed(self.epoch)\nreturn np.random.rand()",
    "not the index, by a function": "seed_with(self.epoch)\nreturn noise()",
    "not the index, by a context manager": "with seeded(self.epoch):\n    return noise()",
    "behind the block": "with seeded(index):\n    pass\nreturn noise()",
    "the draw comes before": "x = noise()\nnp.random.seed(index)\nreturn x",
    "for some items": "if index > 3:\n    np.random.seed(index)\nreturn noise()",
    "where the arguments do not say so": "if self.train:\n    np.random.seed(index)\nreturn noise()",
    "put back": "s = np.random.get_state()\nnp.random.seed(index)\nnp.random.set_state(s)\nreturn noise()",
}


def left(body: str, folder: Path) -> list[str]:
    path = folder / "program.py"
    loader = "\n\nloader = DataLoader(Data(train=False, epoch=sys.argv[1]), num_workers=2)\n"
    path.write_text(HEAD + indent(body, " " * 8) + loader, encoding="utf-8")
    program = Program(folder, [path], Settings(), TargetTorch())
    (only,) = program.loaders
    return [draw.event.name for draw in draws_left(program.ev, program.worker_run(only), "numpy")]


@pytest.mark.parametrize("body", DECIDED.values(), ids=DECIDED)
def test_draws_that_the_item_decides(body: str, tmp_path: Path) -> None:
    assert left(body, tmp_path) == []


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_draws_that_it_does_not(body: str, tmp_path: Path) -> None:
    assert len(left(body, tmp_path)) == 1
