"""What is done to a list or dict under one of its names shows under the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import named, program_of

from torchrepro_lint.engine import check


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = [0]\ny = a\na.append(4)\n", "list[0 4]"),
        ("y = [0]\na = y\na.append(4)\n", "list[0 4]"),
        ("y = [0]\na = y\nb = a\nb.append(4)\n", "list[0 4]"),
        ("y = {'k': 0}\na = y\na['k'] = 4\n", "{'k':4}"),
        ("y = {'k': 0}\na = y\na.update(k=4)\n", "{'k':4}"),
        # Two names of two objects.
        ("y = [0]\na = list(y)\na.append(4)\n", "list[0]"),
        ("y = [0]\na = y\na = [1]\na.append(4)\n", "list[0]"),
        ("def f(x):\n    z = []\n    a = z\n    a.append(x)\n    return z\ny = f(4)\n", "list[4]"),
    ],
)
def test_a_change_under_another_name(tmp_path: Path, text: str, found: str) -> None:
    assert named(program_of(tmp_path, text), "y") == found


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("alias = files\n    files.sort()\n    random.shuffle(alias)", 0),
        ("alias = files\n    alias.sort()\n    random.shuffle(files)", 0),
        ("alias = files\n    random.shuffle(alias)\n    files.sort()", 1),
        ("alias = list(files)\n    files.sort()\n    random.shuffle(alias)", 1),
    ],
)
def test_a_listing_that_is_sorted_under_another_name(write, lines: str, count: int) -> None:
    text = f"import os\nimport random\n\nrandom.seed(0)\n\n\ndef f():\n    files = os.listdir('.')\n    {lines}\n"
    found = check([write({"main.py": text})]).findings
    assert [one.code for one in found].count("TRL207") == count
