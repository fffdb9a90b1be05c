"""The limits of what plans fixes: past one, no safe fix is written that needs what lies beyond it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fixes import generators, importable, offsets, passed_seed, to_be_read

FIXES = Path(generators.__file__).parent

DATA = """
from torch.utils.data import DataLoader


def inner(options):
    return DataLoader(range(32), batch_size=4, shuffle=True)


def outer(args):
    return inner(args)
"""
MAIN = """
import argparse
import random

from data import outer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    random.seed(args.seed)
    for batch in outer(args):
        print(batch)


if __name__ == "__main__":
    main()
"""
LOADERS = "    loader = DataLoader(range(32), batch_size=4, shuffle=True)\n    print(list(loader))\n"
OF_ONE_NAME = (
    f"import torch\nfrom torch.utils.data import DataLoader\n\ntorch.manual_seed(3)\n\n\ndef f():\n{LOADERS * 3}\nf()\n"
)
OF_AN_OBJECT = """
import torch
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, data):
        self.data = data

    def source(self):
        return DataLoader(self.data, shuffle=True)

    def target(self):
        return DataLoader(self.data, shuffle=True)

    def fit(self):
        for epoch in range(3):
            print(*zip(self.source(), self.target()))


torch.manual_seed(3)
Trainer(range(32)).fit()
"""
IN_A_LOOP = """
import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)
for epoch in range(3):
    print(epoch)
    print(*DataLoader(range(32), shuffle=True))
"""
WITH_A_GENERATOR = """
import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)
own = torch.Generator()
own.manual_seed(torch.initial_seed() + 3)
first = DataLoader(range(32), shuffle=True, generator=own)
second = DataLoader(range(16), shuffle=True)
print(list(first), list(second))
"""


def _fixes(root: Path, main: str, data: str = "") -> list[tuple[Applicability | None, str]]:
    """How safe the fix of each finding is, and what it writes, or why there is none."""
    root.mkdir()
    for name, text in (("main.py", main), ("data.py", data), ("pyproject.toml", "")):
        (root / name).write_text(text, encoding="utf-8")
    found = check([root], {"select": ("TRL201",)}).findings
    return [
        (one.fix.applicability, "".join(edit.content for edit in one.fix.edits))
        if one.fix is not None
        else (None, one.fix_declined or "")
        for one in found
    ]


def _seed_through_functions(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [(known, text)] = _fixes(root / "within", MAIN, DATA)
    assert known is Applicability.SAFE and "manual_seed(options.seed)" in text
    monkeypatch.setattr(passed_seed, "_MAX_CALLERS", 0)
    [(past, reason)] = _fixes(root / "past", MAIN, DATA)
    assert past is None, reason
    assert "the program's seed has no name here" in reason


def _let_all_be_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(to_be_read, "MAX_NUMBERED", 3)
    monkeypatch.setattr(to_be_read, "MAX_UNREAD", 3)
    monkeypatch.setattr(to_be_read, "MAX_READ_ALONG", 3)


def _generators_of_one_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _let_all_be_unread(monkeypatch)
    assert {safety for safety, _ in _fixes(root / "within", OF_ONE_NAME)} == {Applicability.SAFE}
    monkeypatch.setattr(to_be_read, "MAX_NUMBERED", 2)
    assert {safety for safety, _ in _fixes(root / "past", OF_ONE_NAME)} == {Applicability.UNSAFE}


def _generators_of_one_function(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _let_all_be_unread(monkeypatch)
    assert {safety for safety, _ in _fixes(root / "within", OF_ONE_NAME)} == {Applicability.SAFE}
    monkeypatch.setattr(generators, "MAX_IN_A_FUNCTION", 2)
    past = _fixes(root / "past", OF_ONE_NAME)
    assert {safety for safety, _ in past} == {None}
    assert "make them in a loop" in past[0][1]


def _generators_to_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _let_all_be_unread(monkeypatch)
    assert {safety for safety, _ in _fixes(root / "within", OF_ONE_NAME)} == {Applicability.SAFE}
    monkeypatch.setattr(to_be_read, "MAX_UNREAD", 2)
    assert {safety for safety, _ in _fixes(root / "past", OF_ONE_NAME)} == {Applicability.UNSAFE}


def _numbers_read_along(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _let_all_be_unread(monkeypatch)
    assert {safety for safety, _ in _fixes(root / "within", OF_ONE_NAME)} == {Applicability.SAFE}
    monkeypatch.setattr(to_be_read, "MAX_READ_ALONG", 1)
    assert Applicability.UNSAFE in {safety for safety, _ in _fixes(root / "past", OF_ONE_NAME)}


def _rows_between(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit nobody reads the generator with its loader: the fix is there, and not safe."""
    assert [safety for safety, _ in _fixes(root / "within", IN_A_LOOP)] == [Applicability.SAFE]
    monkeypatch.setattr(to_be_read, "MAX_ROWS_APART", 1)
    assert [safety for safety, _ in _fixes(root / "past", IN_A_LOOP)] == [Applicability.UNSAFE]


def _generators_of_an_object(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit nobody reads what the constructor makes one after the other: the fix is there, and not safe."""
    assert {safety for safety, _ in _fixes(root / "within", OF_AN_OBJECT)} == {Applicability.SAFE}
    monkeypatch.setattr(to_be_read, "MAX_KEPT", 1)
    assert {safety for safety, _ in _fixes(root / "past", OF_AN_OBJECT)} == {Applicability.UNSAFE}


def _seeds_that_are_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit the number of another generator is not read: the new one is counted from that all the same."""
    assert "manual_seed(torch.initial_seed())" in _fixes(root / "within", WITH_A_GENERATOR)[0][1]
    monkeypatch.setattr(offsets, "MAX_OFFSET", 2)
    assert "manual_seed(torch.initial_seed() + 1)" in _fixes(root / "past", WITH_A_GENERATOR)[0][1]


#: A module for workers, which one program imports, and a trainer that another one does.
OF_A_PACKAGE = {
    "torchrepro-lint.toml": 'target-torch = ">=1.7,<1.9"',
    "main.py": "from trainers import plain\n\nplain.train()\n",
    "other.py": "from trainers.workers import seed_worker\n\nprint(seed_worker)\n",
    "trainers/__init__.py": "",
    "trainers/workers.py": """\
import numpy as np
import torch


def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)
""",
    "trainers/data.py": """\
import numpy as np
from torch.utils.data import Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand()
""",
    "trainers/plain.py": """\
from torch.utils.data import DataLoader
from trainers.data import Noise


def train():
    print(*DataLoader(Noise(), num_workers=2))
""",
}


def _files_that_an_import_reads(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = {}
    for limit in (1, 0):
        monkeypatch.setattr(importable, "MAX_NEW", limit)
        for name, text in OF_A_PACKAGE.items():
            (path := root / str(limit) / name).parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        fix([root / str(limit)])
        text = (root / str(limit) / "trainers" / "plain.py").read_text("utf-8")
        assert "worker_init_fn=seed_worker" in text
        imported[limit] = "import seed_worker" in text
    assert imported == {1: True, 0: False}


DRIVEN = {
    "importable.py:MAX_NEW": _files_that_an_import_reads,
    "offsets.py:MAX_OFFSET": _seeds_that_are_written,
    "to_be_read.py:MAX_ROWS_APART": _rows_between,
    "to_be_read.py:MAX_READ_ALONG": _numbers_read_along,
    "to_be_read.py:MAX_KEPT": _generators_of_an_object,
    "to_be_read.py:MAX_UNREAD": _generators_to_be_read,
    "generators.py:MAX_IN_A_FUNCTION": _generators_of_one_function,
    "to_be_read.py:MAX_NUMBERED": _generators_of_one_name,
    "passed_seed.py:_MAX_CALLERS": _seed_through_functions,
}
#: What is guessed of the layout decides nothing that runs.
ELSEWHERE = {"document.py:_MAXIMUM_GUESS"}


@pytest.mark.parametrize("limit", DRIVEN)
def test_past_a_limit_no_safe_fix_needs_what_is_beyond(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DRIVEN[limit](tmp_path, monkeypatch)


def test_every_limit_is_driven_over_its_edge() -> None:
    constants = {
        f"{path.relative_to(FIXES).as_posix()}:{name}"
        for path in FIXES.rglob("*.py")
        for name in re.findall(r"^(_?MAX(?:IMUM)?_\w+)\b.*?=", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert constants == DRIVEN.keys() | ELSEWHERE
