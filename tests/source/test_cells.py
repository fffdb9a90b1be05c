from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.source.cells import Cell, Cells, join, parts, python_text, split, why_not_written

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
