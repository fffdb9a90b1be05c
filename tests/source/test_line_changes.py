"""Which lines stay in another text: by `difflib`, and by the shortest way where most lines are equal to many others."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.source import line_changes as module
from torchrepro_lint.source.line_changes import line_changes
from torchrepro_lint.source.notebook import read_notebook

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=9)


def made(old: list[str], new: list[str]) -> list[str]:
    """The new text, by the parts that stay and the lines that come."""
    text, done, done_new = [], 0, 0
    for kind, first, last, first_new, last_new in line_changes(old, new):
        assert (first, first_new) == (done, done_new)
        assert (kind == "insert") == (first == last) and (kind == "delete") == (first_new == last_new)
        text += old[first:last] if kind == "equal" else new[first_new:last_new]
        done, done_new = last, last_new
    assert (done, done_new) == (len(old), len(new))
    return text


@given(LINES, LINES, st.sampled_from([0, 10**9]), st.sampled_from([0, 2, 200]))
def test_the_parts_give_the_new_text(old: list[str], new: list[str], pairs: int, changes: int) -> None:
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(module, "_MOST_PAIRS", pairs)
        limits.setattr(module, "_MOST_CHANGES", changes)
        assert made(old, new) == new


@given(LINES, LINES)
def test_as_many_lines_stay_as_can(old: list[str], new: list[str]) -> None:
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for row, one in enumerate(old):
        for column, other in enumerate(new):
            longest[row + 1][column + 1] = (
                longest[row][column] + 1 if one == other else max(longest[row][column + 1], longest[row + 1][column])
            )
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(module, "_MOST_PAIRS", -1)
        assert (
            sum(last - first for kind, first, last, *_ in line_changes(old, new) if kind == "equal") == longest[-1][-1]
        )


def test_many_equal_lines_cost_what_others_do() -> None:
    old = ["import torch\n", *["x = 1\n"] * 30_000, "g = torch.Generator()\n", "y = g\n"]
    new = [
        "import torch\n",
        "import numpy\n",
        *["x = 1\n"] * 30_000,
        "g = torch.Generator().manual_seed(0)\n",
        "y = g\n",
    ]
    start = time.process_time()
    assert line_changes(old, new) == [
        ("equal", 0, 1, 0, 1),
        ("insert", 1, 1, 1, 2),
        ("equal", 1, 30_001, 2, 30_002),
        ("replace", 30_001, 30_002, 30_002, 30_003),
        ("equal", 30_002, 30_003, 30_003, 30_004),
    ]
    # Where more has changed than is looked at, all between the first and the last change is another text.
    assert [kind for kind, *_ in line_changes(["a\n"] * 5_000, ["b\n", "a\n"] * 2_000 + ["b\n"])] == ["replace"]
    assert time.process_time() - start < 5


def test_a_cell_of_many_equal_lines_is_written_in_seconds() -> None:
    raw = '"import torch\\n", ' + '"x = \\"\\u00fc\\"\\n", ' * 30_000 + '"y = 1"'
    text = f'{{"nbformat": 4, "cells": [{{"cell_type": "code", "source": [{raw}]}}]}}'
    found = read_notebook(text)
    (cell,) = found.cells
    start = time.process_time()
    changed = found.with_sources([type(cell)(cell.number, cell.source.replace("y = 1", "y = 2"))])
    assert time.process_time() - start < 5
    assert changed == text.replace("y = 1", "y = 2")
