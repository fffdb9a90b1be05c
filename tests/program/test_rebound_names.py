"""Names that code changes out of sight may be anything; an arm that is proven not to run gives nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import named, program_of


@pytest.mark.parametrize(
    "text",
    [
        "y = 0\nexec(open('more.py').read())\n",
        "y = 0\nglobals()['y'] = 4\n",
        "y = 0\nglobals().update(y=4)\n",
        "y = 0\nfrom elsewhere import *\n",
    ],
)
def test_a_name_that_may_be_bound_out_of_sight_may_be_anything(tmp_path: Path, text: str) -> None:
    assert "?" in named(program_of(tmp_path, text), "y") or "4" in named(program_of(tmp_path, text), "y")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("y = 0 if False else 4\n", "4"),
        ("x = 0\ny = 4 if x == 0 else 1\n", "4"),
    ],
)
def test_an_arm_that_never_runs_gives_nothing(tmp_path: Path, text: str, found: str) -> None:
    assert named(program_of(tmp_path, text), "y") == found
