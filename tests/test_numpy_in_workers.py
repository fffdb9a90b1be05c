"""How TRL101 judges one loader, by what is known of the project's torch and of its seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.commands.explain import explain
from torchrepro_lint.diagnostics import Applicability, Finding, Severity
from torchrepro_lint.engine import check

_PROGRAM = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

{seed}


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.randn()


for batch in DataLoader(Noisy(), num_workers=2):
    print(batch)
"""
_REPEATS = "before torch 1.9"
_ERROR, _WARNING = Severity.ERROR, Severity.WARNING


def found(write, seed: str = "", requirements: str = "") -> list[Finding]:
    root: Path = write(
        {"torchrepro-lint.toml": "", "train.py": _PROGRAM.format(seed=seed), "requirements.txt": requirements}
    )
    return list(check([root / "train.py"], {"select": ("TRL101",), "profile": "default"}).findings)


@pytest.mark.parametrize(
    ("requirements", "seed", "severity", "words"),
    [
        ("", "", _WARNING, (_REPEATS, "`target-torch`")),
        ("", "torch.manual_seed(0)", _WARNING, (_REPEATS, "`target-torch`")),
        ("", "np.random.seed(0)\ntorch.manual_seed(0)", _WARNING, (_REPEATS, "`target-torch`")),
        ("", "np.random.seed(0)", _ERROR, ("`np.random.seed` does not affect them", _REPEATS)),
        ("torch==1.7.1", "", _ERROR, (_REPEATS,)),
        ("torch==1.7.1", "torch.manual_seed(0)", _ERROR, (_REPEATS,)),
        ("torch<1.9", "", _ERROR, (_REPEATS,)),
        ("torch>=1.7", "", _WARNING, (_REPEATS, "`target-torch`")),
        ("torch>=1.9", "", _WARNING, ("torch is not seeded",)),
        ("torch>=1.9", "np.random.seed(0)", _WARNING, ("`np.random.seed` does not affect them",)),
    ],
)
def test_severity_and_message(write, requirements: str, seed: str, severity: Severity, words: tuple[str, ...]) -> None:
    (finding,) = found(write, seed, requirements)
    assert finding.severity is severity
    assert all(word in finding.message for word in words)
    assert ("`target-torch`" in finding.message) is ("`target-torch`" in words)


@pytest.mark.parametrize(
    ("requirements", "seed", "default", "counted"),
    [
        ("", "", [], True),
        ("", "np.random.default_rng(0)", [], True),
        ("", "torch.Generator().manual_seed(0)", [], True),
        ("torch", "", [], True),
        ("", "random.seed(0)", [_WARNING], False),
        ("", "np.random.seed(0)", [_ERROR], False),
        ("", "torch.manual_seed(0)", [], False),
        ("", "np.random.seed(0)\ntorch.manual_seed(0)", [], False),
        ("torch<1.9", "", [_ERROR], False),
        ("torch>=1.7", "", [], True),  # a lower bound alone installs the newest torch
        ("torch>=1.7", "random.seed(0)", [_WARNING], False),
        ("torch>=1.7", "np.random.seed(0)", [_ERROR], False),
        ("torch>=1.7,<2", "", [_WARNING], False),
        ("torch>=1.7", "torch.manual_seed(0)", [], False),
        ("torchvision>=0.8", "", [], True),  # a lower bound that was inferred
        ("torchvision>=0.8", "np.random.seed(0)", [_ERROR], False),
        ("torchvision==0.8.2", "", [_ERROR], False),
        ("torch>=1.9", "", [], True),
        ("torch>=1.9", "random.seed(0)", [_WARNING], False),
    ],
)
def test_a_program_that_seeds_nothing_is_told_where_its_torch_may_be_old(
    write, requirements: str, seed: str, default: list[Severity], counted: bool
) -> None:
    text = "import random\n" + _PROGRAM.format(seed=seed)
    root = write({"torchrepro-lint.toml": "", "train.py": text, "requirements.txt": requirements})
    report = check([root / "train.py"])
    assert [one.severity for one in report.findings if one.code == "TRL101"] == default
    assert bool(report.left.programs) is counted


_SAFE, _UNSAFE = Applicability.SAFE, Applicability.UNSAFE
_SEEDED = "torch.manual_seed(0)"


@pytest.mark.parametrize(
    ("requirements", "seed", "expected"),
    [
        ("torch==1.8.1", "", _SAFE),
        ("torch<1.9", "", _SAFE),
        ("torch>=1.7", "", _UNSAFE),
        ("torch>=1.7,<1.9", "", _SAFE),
        ("torch", "", _UNSAFE),
        ("", "", _UNSAFE),
        ("", "np.random.seed(0)", _UNSAFE),
        ("torchvision>=0.8", "", _UNSAFE),
        ("torch>=1.9", "", None),
        ("torch>=2.1", "np.random.seed(0)", _UNSAFE),
    ],
)
def test_the_function_alone_is_safe_where_torch_may_be_older(
    write, requirements: str, seed: str, expected: Applicability | None
) -> None:
    """Later versions seed NumPy in the workers themselves: the function would change nothing."""
    (finding,) = found(write, seed, requirements)
    assert (finding.fix and finding.fix.applicability) == expected


@pytest.mark.parametrize("requirements", ["", "torch==1.8.1", "torch>=1.7"])
def test_a_generator_beside_the_function_is_a_gain_with_any_torch(write, requirements: str) -> None:
    text = _PROGRAM.format(seed=_SEEDED).replace("num_workers=2", "shuffle=True, num_workers=2")
    root = write({"torchrepro-lint.toml": "", "train.py": text, "requirements.txt": requirements})
    (finding,) = check([root], {"select": ("TRL101",)}).findings
    assert finding.fix is not None
    assert "generator" in finding.fix.message
    assert finding.fix.applicability is _SAFE


def test_nothing_is_said_where_torch_reseeds_the_workers(write) -> None:
    assert found(write, "torch.manual_seed(0)", "torch>=1.9") == []


_OTHERS = """\
import random
import data
import numpy as np
import torch

random.seed(7)
np.random.seed(7)
{seed}
print(torch.rand(2), np.random.rand(), getattr(data, input()))
"""


@pytest.mark.parametrize(("seed", "expected"), [("torch.manual_seed(7)", []), ("", ["TRL101"])])
def test_programs_that_seed_torch_stand_for_those_out_of_sight(write, seed: str, expected: list[str]) -> None:
    """Nothing in sight makes the loader of `data.py`, so that any program of the project may."""
    module = _PROGRAM.format(seed="").partition("for batch")[0]
    maker = "class Loaders:\n    def loader(self):\n        return DataLoader(Noisy(), num_workers=2)\n"
    files = {"torchrepro-lint.toml": "", "train.py": _OTHERS.format(seed=seed), "data.py": module + maker}
    root: Path = write({**files, "requirements.txt": "torch>=1.9"})
    findings = check([root], {"profile": "default"}).findings
    assert [one.code for one in findings if one.code == "TRL101"] == expected


def test_the_trace_shows_the_seed_that_does_not_affect_the_workers(write) -> None:
    (finding,) = found(write, "np.random.seed(0)")
    last = finding.trace[-1]
    assert (last.location.start.row, last.depth) == (5, 0)
    assert last.note == "seeds NumPy in the main process, which does not affect the workers"


@pytest.mark.parametrize(
    "seed",
    [
        "def worker_seeds(worker_id):\n    np.random.seed(worker_id)",
        "def unused():\n    np.random.seed(0)",
    ],
)
def test_a_seed_that_is_not_the_runs_own_makes_no_error(write, seed: str) -> None:
    (finding,) = found(write, seed)
    assert finding.severity is _WARNING


@pytest.mark.parametrize(
    ("requirements", "line"),
    [
        ("", "torch: unknown, so all versions are considered; `target-torch` in the settings states it\n"),
        ("torch>=2.1", "torch: >=2.1 (from requirements.txt)\n"),
        ("torchvision>=0.16", "torch: >=2.1 (inferred from torchvision>=0.16)\n"),
    ],
)
@pytest.mark.parametrize("row", [1, 17])
def test_explain_says_which_torch_counts_and_why(
    write, requirements: str, line: str, row: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"torchrepro-lint.toml": "", "train.py": _PROGRAM.format(seed=""), "requirements.txt": requirements}
    monkeypatch.chdir(write(files))
    assert explain([f"train.py:{row}"]) == 0
    assert capsys.readouterr().out.count(line) == 1


_ONE_WORKER = """\


def main():
    loader = DataLoader(Noisy(), num_workers=1{more})
    {over}


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("over", "seed", "more", "words"),
    [
        ("for batch in loader:\n        print(batch)", "torch.manual_seed(0)", "", None),
        ("print(len(loader))\n    for i, batch in enumerate(loader):\n        print(i)", "torch.manual_seed(0)", "", None),
        ("for batch in loader:\n        print(batch)", "np.random.seed(0)", "", "torch is not seeded"),
        (
            "for _ in range(3):\n        for batch in loader:\n            print(batch)",
            "torch.manual_seed(0)", "", "every epoch draws",
        ),
        ("print(list(map(print, loader)))", "torch.manual_seed(0)", "", "every epoch draws"),
        (
            "for batch in loader:\n        print(batch)",
            "torch.manual_seed(0)", ', multiprocessing_context="spawn"', "every epoch draws",
        ),
    ],
)  # fmt: skip
def test_one_worker_repeats_only_what_it_drew_before(write, over: str, seed: str, more: str, words: str | None) -> None:
    program = _PROGRAM.format(seed=seed).partition("\n\nfor batch")[0] + _ONE_WORKER.format(over=over, more=more)
    root: Path = write({"torchrepro-lint.toml": "", "train.py": program})
    findings = check([root / "train.py"], {"select": ("TRL101",), "profile": "default"}).findings
    assert [words in one.message for one in findings if words] == ([] if words is None else [True])
    assert words is not None or not findings
