"""TRL201 where torch is seeded: two runs have one order, so it is told with a safe fix alone."""

from __future__ import annotations

import pytest

from torchrepro_lint.commands.explain import explain
from torchrepro_lint.engine import RunOptions, check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.project_check import CacheChoice

_HEAD = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(64.0))
"""
_ONE = """\
for (batch,) in DataLoader(data, batch_size=4, shuffle=True):
    print(batch)
"""
#: A loader for each size: no safe fix gives them generators with numbers of their own.
_SIZES = """\
def make(size):
    return DataLoader(data, batch_size=size, shuffle=True)


loaders = {size: make(size) for size in (2, 4)}
for size in loaders:
    for (batch,) in loaders[size]:
        print(batch)
"""
_SEED, _SWITCH = "torch.manual_seed(3)\n", "torch.use_deterministic_algorithms(True)\n"
_PROGRAMS = {
    "a seed, and a safe fix": ({"train.py": _HEAD + _SEED + _ONE}, ["train.py"], []),
    "a seed, and no safe fix": ({"train.py": _HEAD + _SEED + _SIZES}, [], ["train.py"]),
    "no seed, and no safe fix": ({"train.py": _HEAD + _SWITCH + _SIZES}, ["train.py"], []),
    "a safe fix beside what is left": (
        {"train.py": _HEAD + _SEED + _ONE, "tune.py": _HEAD + _SEED + _SIZES}, [], ["train.py", "tune.py"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "told", "untold"), _PROGRAMS.values(), ids=_PROGRAMS)
def test_what_is_told(files: dict[str, str], told: list[str], untold: list[str], write, tmp_path) -> None:
    root = write({"torchrepro-lint.toml": "", **files})
    run = RunOptions(cache=CacheChoice(tmp_path.parent / f"{tmp_path.name}-cache"))
    for _ in range(2):  # made, and taken from the cache
        report = check([root], run=run)
        assert [one.location.path.name for one in report.findings if one.code == "TRL201"] == told
        assert [one.location.path.name for one in report.untold if one.code == "TRL201"] == untold
    for options in ({"profile": "strict"}, {"extend_select": ("TRL201",)}):
        assert [one.location.path.name for one in check([root], options).findings] == sorted([*told, *untold])


@pytest.mark.parametrize(("files", "told", "untold"), _PROGRAMS.values(), ids=_PROGRAMS)
def test_after_the_safe_fixes_none_is_told(files: dict[str, str], told: list[str], untold: list[str], write) -> None:
    result = fix([write({"torchrepro-lint.toml": "", **files})])
    is_seeded = all(_SEED in text for text in files.values())
    assert len(result.fixed) == (len(told) if is_seeded else 0)
    assert [one.code for one in result.report.findings] == ([] if is_seeded else ["TRL201"])


def test_explain_says_why_it_is_not_told(write, capsys: pytest.CaptureFixture[str]) -> None:
    files, _, _ = _PROGRAMS["a safe fix beside what is left"]
    root = write({"torchrepro-lint.toml": "", **files})
    explain([f"{root / 'train.py'}:6"])
    assert "torch is seeded, so the order repeats, and no safe fix mends it" in capsys.readouterr().out


_ONE_LOADER = "loader = DataLoader(Noisy(), num_workers=2)\nfor batch in loader:\n    print(batch)\n"
#: A loader for each size: no safe fix gives them generators with numbers of their own.
_EACH_SIZE = """\
def make(size):
    return DataLoader(Noisy(), batch_size=size, num_workers=2)


loaders = {size: make(size) for size in (2, 4)}
for size in loaders:
    for batch in loaders[size]:
        print(batch)
"""


@pytest.mark.parametrize(("loaders", "told"), [(_ONE_LOADER, ["TRL201"]), (_EACH_SIZE, [])], ids=["one", "each size"])
def test_what_one_file_breaks_in_another(write, loaders: str, told: list[str]) -> None:
    """It is told where a safe fix mends it in that file, as it is told there."""
    data = """\
import torch
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.rand(1)
"""
    train = """\
import torch
from torch.utils.data import DataLoader

from noisy import Noisy

torch.manual_seed(3)
"""
    root = write({"torchrepro-lint.toml": "", "noisy.py": data, "train.py": train + loaders})
    assert [one.code for one in check([root / "noisy.py"]).elsewhere] == told
    strictly = check([root / "noisy.py"], {"profile": "strict"}).elsewhere
    assert [one.code for one in strictly] == ["TRL201"]
