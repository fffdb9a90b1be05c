from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.source.cells import (
    Cell,
    Cells,
    cell_errors,
    join,
    parts,
    python_text,
    split,
    why_not_written,
    within_cell,
)

PATH = Path("a.ipynb")
SOURCES = st.text("%!x\n \r# cell1-", max_size=30) | st.sampled_from(
    ["# %% cell 1", "# %% cell 2\nx", "# %% cell- 3", ""]
)


def cells(sources: list[str]) -> list[Cell]:
    return [Cell(2 * index + 1, source) for index, source in enumerate(sources)]


@given(st.lists(SOURCES, max_size=5))
def test_what_is_joined_can_be_split_again(sources: list[str]) -> None:
    given_cells = cells(sources)
    text = join(given_cells)
    assert split(text) == given_cells
    assert len(python_text(PATH, text)) == len(text)
    assert why_not_written(PATH, text, text) is None


@given(st.lists(SOURCES, min_size=1, max_size=5))
def test_each_row_is_in_its_cell(sources: list[str]) -> None:
    sources = [source.replace("\r", "") for source in sources]
    text = join(cells(sources))
    found = Cells.of(PATH, text)
    assert found is not None
    rows = text.split("\n")
    for cell in cells(sources):
        for number, line in enumerate(cell.source.split("\n"), 1):
            row = found.rows[found.numbers.index(cell.number)] + number
            assert (found.number(row), row - found.span(row)[0] + 1, rows[row - 1]) == (cell.number, number, line)


def test_the_row_before_a_cell_is_the_end_of_the_one_above() -> None:
    found = Cells.of(PATH, "# %% cell 1\na\nb\n# %% cell 4\nc\n")
    assert found is not None
    assert [found.number(row) for row in range(1, 6)] == [1, 1, 1, 1, 4]
    assert [found.span(row) for row in (1, 4, 5)] == [(2, 3), (2, 3), (5, None)]


def test_rows_of_cells_are_found_in_the_text() -> None:
    found = Cells.of(PATH, "# %% cell 1\na\nb\n# %% cell 4\nc\n")
    assert found is not None
    assert [found.row(1, 1), found.row(1, 2), found.row(1, 3), found.row(4, 1)] == [2, 3, None, 5]
    assert [found.row(2, 1), found.row(1, 0)] == [None, None]
    assert [found.row_in_cell(row) for row in (2, 3, 4, 5)] == [1, 2, 3, 1]


def test_edits_behind_the_last_line_of_a_cell_stay_in_it() -> None:
    text = join([Cell(1, "a"), Cell(4, "b")])
    end = text.index("# %% cell 4")

    def moved(start: int, stop: int, content: str) -> tuple[int, int, str]:
        edit = within_cell(Edit(PATH, start, stop, content), text)
        return edit.start, edit.end, edit.content

    assert moved(end, end, "x\n") == (end - 1, end - 1, "\nx")
    assert moved(end - 2, end, "x\n") == (end - 2, end - 1, "x")
    assert moved(len(text), len(text), "x\n") == (len(text) - 1, len(text) - 1, "\nx")
    assert moved(end - 2, end - 1, "x") == (end - 2, end - 1, "x")
    plain = Edit(Path("a.py"), end, end, "x\n")
    assert within_cell(plain, text) == plain


def test_a_script_is_one_part_and_a_notebook_has_one_for_each_cell() -> None:
    text = "# %% cell 1\na\n\n# %% cell 4\nc\n"
    assert parts(PATH, text) == [(2, "a\n"), (5, "c")]
    assert parts(Path("a.py"), text) == [(1, text)]
    assert Cells.of(Path("a.py"), text) is None
    assert python_text(Path("a.py"), "!ls") == "!ls"


def test_edits_that_a_notebook_cannot_hold_are_refused() -> None:
    text = join([Cell(1, "%time x = 1"), Cell(2, "y = 2")])

    def why(new: str) -> str | None:
        return why_not_written(PATH, text, new)

    assert why(text.replace("y = 2", "y = 3\nz = 4")) is None
    assert why(text.replace("x = 1", "x = 2")) is None
    assert "outside" in (why("import x\n" + text) or "")
    assert "more than one cell" in (why(text.replace("# %% cell 2\n", "")) or "")
    assert "not Python" in (why(text.replace("%time ", "")) or "")
    assert "not Python" in (why(text.replace("x = 1", "x = f(\n1)")) or "")


def test_a_cell_that_is_indented_as_a_whole_is_python() -> None:
    text = join([Cell(1, "x = 1"), Cell(3, "  # device\n  y = 2\n  if y:\n    z = 3"), Cell(4, "w = 4")])
    python = python_text(PATH, text)
    assert len(python) == len(text)
    names: dict[str, int] = {}
    exec(python, names)
    assert (names["y"], names["z"], names["w"]) == (2, 3, 4)
    assert python.split("\n")[3:] == text.split("\n")[3:]


def test_a_cell_of_comments_stays() -> None:
    text = join([Cell(1, "  # only words")])
    assert python_text(PATH, text) == text


@pytest.mark.parametrize("source", ["x = 1\n  y = 2", "  x =", "  def f(:", "print 'x'", "x = 1 +\\", "f(", '"""text'])
def test_a_cell_that_is_no_python_is_a_comment_as_a_whole(source: str) -> None:
    text = join([Cell(1, "x = 1"), Cell(2, source), Cell(3, "y = 2")])
    python = python_text(PATH, text)
    assert len(python) == len(text) and python.count("\n") == text.count("\n")
    names: dict[str, int] = {}
    exec(python, names)
    assert (names["x"], names["y"]) == (1, 2)
    assert list(cell_errors(PATH, text)) == [3]


def test_a_cell_for_a_later_python_is_read() -> None:
    """A parser that knows it reads the file."""
    later = "type Pair[T] = tuple[T, T]\ndef first[T](pair: Pair[T]) -> T: ..."
    text = join([Cell(1, later), Cell(2, "f(")])
    assert python_text(PATH, text).startswith(join([Cell(1, later)]))
    assert list(cell_errors(PATH, text)) == [4]
