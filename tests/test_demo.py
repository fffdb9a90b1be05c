"""The small training that the README shows: what is found in it, what the fix makes of it, and that this runs."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from torchrepro_lint.cli import main
from torchrepro_lint.engine import check

DEMO = Path(__file__).parents[1] / "fixtures" / "demo"
FOUND = {"TRL101": 1, "TRL207": 1, "TRL208": 1, "TRL301": 1}
SCANS = """
import numpy as np
from pathlib import Path
Path("scans").mkdir()
for number in range(20):
    values = np.random.default_rng(number).random((4, 4))
    np.save(f"scans/{'cat' if number % 2 else 'dog'}_{number}.npy", values)
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the training, which is a project of its own."""
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_four_findings_are_made() -> None:
    assert Counter(one.code for one in check([DEMO]).findings) == FOUND


def test_the_fix_leaves_what_needs_a_look(demo: Path) -> None:
    main(["--fix", "--no-cache", str(demo)])
    assert [one.code for one in check([demo]).findings] == ["TRL208"]
    assert main(["--fix", "--unsafe-fixes", "--no-cache", str(demo)]) == 0


@pytest.mark.verify
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the program needs torch")
def test_it_runs_before_and_after_and_its_seed_decides(demo: Path) -> None:
    def output(*arguments: str) -> str:
        run = subprocess.run(
            [sys.executable, "train.py", *arguments], cwd=demo, capture_output=True, text=True, check=True
        )
        return run.stdout

    subprocess.run([sys.executable, "-c", SCANS], cwd=demo, check=True)
    assert output().count("\n") == 3
    main(["--fix", "--unsafe-fixes", "--no-cache", str(demo)])
    assert output() == output()
    assert output() != output("--seed", "1")
