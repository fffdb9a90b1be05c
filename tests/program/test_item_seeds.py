"""Which seeds are the same for every item: the body of a dataset, and whether a draw hangs on one."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import facts_of_text
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.workers.item_seeds import (
    ItemSeed,
    is_for_evaluation,
    is_in_evaluation_arm,
    item_seeds,
    trains,
)
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch

HEAD = """\
import functools
import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

SEED = 5


class Data(Dataset):
    def __len__(self):
        return 8
"""
# The statements of `__getitem__`, on one line or on lines of their own.
EVERY_ITEM = {
    "a constant": ("constant", "np.random.seed(0); return np.random.rand()"),
    "a constant of the module": ("constant", "random.seed(SEED); return random.random()"),
    "several constants": ("constant", "return np.random.default_rng([SEED, 1]).random()"),
    "a seed sequence": ("constant", "return np.random.default_rng(np.random.SeedSequence(3)).random()"),
    "a generator of torch": ("constant", "return torch.rand(1, generator=torch.Generator().manual_seed(1))"),
    "torch's seed": ("worker", "return random.Random(torch.initial_seed() % 2**32).random()"),
    "the worker's": ("worker", "s = get_worker_info().seed; return np.random.RandomState(int(s) % 2**31).rand()"),
    "where a setting says so": ("constant", "\n    if self.fixed:\n        random.seed(1)\n    return random.random()"),
    "seeded again for some items": (
        "constant", "\n    random.seed(0)\n    if index > 3:\n        random.seed(1)\n    return random.random()",
    ),
    "where it is drawn": ("constant", "\n    if index > 3:\n        random.seed(1)\n        return random.random()"),
}  # fmt: skip
NOT_EVERY_ITEM = {
    "the index": "return np.random.default_rng(SEED + index).random()",
    "the index in a list": "return np.random.default_rng([torch.initial_seed(), index]).random()",
    "unknown": "np.random.seed(int(sys.argv[1])); return np.random.rand()",
    "entropy": "np.random.seed(None); return np.random.rand()",
    "no draw": "np.random.seed(0); return index",
    "the draw comes before": "value = np.random.rand(); np.random.seed(0); return value",
    "another generator": "random.seed(0); return np.random.rand()",
    "seeded again": "random.seed(0); random.seed(index); return random.random()",
    "some items": "\n    if index == 0:\n        random.seed(1)\n    return random.random()",
    "the other arm": "\n    if index:\n        random.seed(1)\n    else:\n        return random.random()",
    "fails": "\n    try:\n        1 / index\n    except OSError:\n        random.seed(1)\n    return random.random()",
    "on first use": "\n    if not self.state:\n        self.state = random.Random(1)\n    return self.state.random()",
    "put back": "s = random.getstate(); random.seed(1); x = random.random(); random.setstate(s); return x",
    "forked": "\n    with torch.random.fork_rng():\n        torch.manual_seed(0)\n        return torch.rand(1)",
}  # fmt: skip


def kinds(body: str, folder: Path, rest: str = "", loader: str = "DataLoader(Data(sys.argv[2]))") -> list[str]:
    """The kinds of the seeds that are found in `__getitem__` with this body."""
    return [found.kind for found in seeds(body, folder, rest, loader)[1]]


def seeds(
    body: str, folder: Path, rest: str = "", loader: str = "DataLoader(Data(sys.argv[2]))"
) -> tuple[Program, list[ItemSeed]]:
    start = "def __init__(self, fixed):\n    self.fixed = fixed\n    self.state = None\n"
    item = "def __getitem__(self, index):\n    " + body + "\n"
    path = folder / "program.py"
    path.write_text(HEAD + indent(start + item + dedent(rest), "    ") + f"\nloader = {loader}\n", encoding="utf-8")
    program = Program(folder, [path], Settings(), TargetTorch())
    (only,) = program.loaders
    return program, list(item_seeds(program, only))


@pytest.mark.parametrize(("kind", "body"), EVERY_ITEM.values(), ids=EVERY_ITEM)
def test_the_same_for_every_item(kind: str, body: str, tmp_path: Path) -> None:
    assert kinds(body, tmp_path) == [kind]


@pytest.mark.parametrize("body", NOT_EVERY_ITEM.values(), ids=NOT_EVERY_ITEM)
def test_not_the_same_for_every_item(body: str, tmp_path: Path) -> None:
    assert kinds(body, tmp_path) == []


@pytest.mark.parametrize("decorator", ["functools.cached_property", "property"])
def test_a_property_that_is_kept(decorator: str, tmp_path: Path) -> None:
    rest = f"@{decorator}\ndef rng(self):\n    return random.Random(1)\n"
    expected = [] if "cached" in decorator else ["constant"]
    assert kinds("return self.rng.random()", tmp_path, rest) == expected


@pytest.mark.parametrize(
    ("body", "argument", "expected"),
    [
        ("\n    if not self.fixed:\n        random.seed(1)\n    return random.random()", "True", []),
        ("\n    if self.fixed:\n        random.seed(1)\n    return random.random()", "True", ["constant"]),
    ],
)
def test_an_arm_that_arguments_decide(body: str, argument: str, expected: list[str], tmp_path: Path) -> None:
    assert kinds(body, tmp_path, loader=f"DataLoader(Data({argument}))") == expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [("self.is_test", True), ("not self.train", True), ("self.train", False), ("self.fixed", False)],
)
def test_an_arm_that_its_words_put_into_the_evaluation(test: str, expected: bool, tmp_path: Path) -> None:
    body = f"\n    if {test}:\n        random.seed(1)\n    return random.random()"
    program, (found,) = seeds(body, tmp_path)
    assert is_in_evaluation_arm(program, found.seed, proven=False) is expected
    assert not is_in_evaluation_arm(program, found.seed, proven=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TestImages", True), ("VideoRecurrentTestDataset", True), ("COCOValDataset", True), ("val_set", True),
        ("EvalSet", True), ("Images", False), ("LatestImages", False), ("Interval", False), ("TrainSet", False),
        ("Contest", False), ("ValueDataset", False),
    ],
)  # fmt: skip
def test_names_of_evaluation_sets(name: str, expected: bool) -> None:
    assert is_for_evaluation(name) is expected


@pytest.mark.parametrize(
    ("test", "then", "otherwise"),
    [
        ("self.train", True, False), ("not self.is_train", False, True), ("phase == 'train'", True, False),
        ("phase != 'train'", False, True), ("split in ('val', 'test')", False, True), ("is_val", False, True),
        ("mode == 'fast'", None, None), ("index", None, None), ("split in ('train', 'val')", None, None),
        ("self.train and self.noise", True, None),
    ],
)  # fmt: skip
def test_what_an_arm_is_for(test: str, then: bool | None, otherwise: bool | None) -> None:
    statement = facts_of_text(Path("x.py"), f"if {test}:\n    pass\n").body[0]
    assert isinstance(statement, tree.If)
    assert trains(statement.test, True) is then
    assert trains(statement.test, False) is otherwise
