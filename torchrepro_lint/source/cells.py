"""The code cells of a notebook as one text. A line in front of each cell, in the form of the scripts that editors take
for notebooks, says where it begins and which cell it is:

    # %% cell 2
    import torch
    # %% cell 5
    torch.manual_seed(0)

The first line of the text says how these lines look, so that the text alone is enough to take it apart again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.source.broken_cells import CellError, as_comment, error_in
from torchrepro_lint.source.magics import as_python, escapes, parses

__all__ = [
    "NOTEBOOK_SUFFIX",
    "Cell",
    "Cells",
    "cell_errors",
    "is_notebook",
    "join",
    "parts",
    "python_text",
    "searched_text",
    "split",
    "within_cell",
    "why_not_written",
]

NOTEBOOK_SUFFIX = ".ipynb"

_PREFIX = "# %% cell"
_FIRST = re.compile(r"(# %%.*) \d+\n")
_INDENTED = re.compile(r"\s*^[ \t]+\S", re.MULTILINE)
_OPENS = "if True:"
_ROW = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell. `number` counts the cells of all kinds, from 1, as ruff does."""

    number: int
    source: str


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the cells are in the joined text: their numbers, and the rows of the lines in front of them."""

    numbers: tuple[int, ...]
    rows: tuple[int, ...]

    @classmethod
    def of(cls, path: Path, text: str) -> Cells | None:
        """The cells of the notebook `path`, whose joined text is given; None where there are none."""
        if not is_notebook(path):
            return None
        numbers: list[int] = []
        rows: list[int] = []
        row, at = 1, 0
        for span in _spans(text):
            row += len(_ROW.findall(text, at, span.mark))
            at = span.mark
            numbers.append(span.number)
            rows.append(row)
        return cls(tuple(numbers), tuple(rows)) if rows else None

    def number(self, row: int) -> int:
        """The number of the cell that a row of the text lies in. The line in front of a cell is the end of the one
        before it.
        """
        return self.numbers[self._index(row)]

    def span(self, row: int) -> tuple[int, int | None]:
        """The first and the last row of the text that belong to the cell around `row`; None: to the end."""
        index = self._index(row)
        return self.rows[index] + 1, self.rows[index + 1] - 1 if index + 1 < len(self.rows) else None

    def row_in_cell(self, row: int) -> int:
        """The row, from 1, in the cell that `row` lies in."""
        return row - self.span(row)[0] + 1

    def row(self, number: int, row: int) -> int | None:
        """The row of the text where a row of a cell is; None where there is no such cell, or no such row in it."""
        if number not in self.numbers or row < 1:
            return None
        found = self.rows[self.numbers.index(number)] + row
        last = self.span(found)[1]
        return found if self.number(found) == number and (last is None or found <= last) else None

    def _index(self, row: int) -> int:
        return max(bisect_left(self.rows, row) - 1, 0)


def is_notebook(path: Path) -> bool:
    """Whether the name of a file says that it is a notebook."""
    return path.suffix == NOTEBOOK_SUFFIX


def join(cells: Iterable[Cell]) -> str:
    """One text of all cells."""
    cells = list(cells)
    prefix = _PREFIX
    while any(_mark(prefix).search(cell.source + "\n") for cell in cells):
        prefix += "-"
    return "".join(f"{prefix} {cell.number}\n{cell.source}\n" for cell in cells)


def split(text: str) -> list[Cell]:
    """The cells that `join` has joined. ValueError where something is in front of the first."""
    spans = _spans(text)
    if text and not spans:
        raise ValueError("the text does not begin with a cell")
    return [Cell(span.number, text[span.start : span.end].removesuffix("\n")) for span in spans]


def python_text(path: Path, text: str) -> str:
    """The text of a file as a parser can read it: for a notebook, what is not Python is replaced in the same length,
    and a cell that no parser reads, which never runs, is a comment as a whole.
    """
    if not is_notebook(path):
        return text
    cells = _python_cells(text)
    for index in _broken(cells):
        cells[index] = as_comment(cells[index])
    return "".join(cells)


def searched_text(text: str) -> str:
    """What a search for words of a notebook looks at: the cells as Python, also those that cannot be read."""
    return "".join(_python_cells(text))


def cell_errors(path: Path, text: str) -> dict[int, CellError]:
    """Why cells of a notebook cannot be read, by the row of the text that is the line in front of the cell."""
    if not is_notebook(path):
        return {}
    cells = _python_cells(text)
    return {len(_ROW.findall("".join(cells[:index]))) + 1: error for index, error in _broken(cells).items()}


def _broken(cells: list[str]) -> dict[int, CellError]:
    """Which of the cells cannot be read, and why."""
    if parses("".join(cells)):
        return {}
    return {index: error for index, cell in enumerate(cells) if (error := error_in(cell)) is not None}


def _python_cells(text: str) -> list[str]:
    """The cells of a joined text as Python, each with the line in front of it."""
    spans = _spans(text)
    if not spans:
        return [text]
    return [_python_cell(text[span.mark : span.start], as_python(text[span.start : span.end])) for span in spans]


def _python_cell(mark: str, cell: str) -> str:
    """A cell with the line in front of it. One that is indented as a whole, which IPython takes for what it is without
    its indentation, becomes the body of an `if`.
    """
    if _INDENTED.match(cell) and not parses(cell) and parses(f"{_OPENS}\n{cell}"):
        return _OPENS.ljust(len(mark) - 1) + "\n" + cell
    return mark + cell


def parts(path: Path, text: str) -> list[tuple[int, str]]:
    """What Python compiles on its own, with the row at which it begins: the cells of a notebook, or the whole text."""
    cells = Cells.of(path, text)
    if cells is None:
        return [(1, text)]
    return [(row + 1, cell.source) for row, cell in zip(cells.rows, split(text), strict=True)]


def within_cell(edit: Edit, text: str) -> Edit:
    """The same edit of the text of a file, so that in a notebook it ends in the cell that it begins in: what is put
    after the last line of a cell, which has no line ending there, brings one in front.
    """
    if not is_notebook(edit.path):
        return edit
    ends = {span.end for span in _spans(text)}
    if edit.end not in ends or not edit.content.endswith("\n"):
        return edit
    if edit.start < edit.end:
        return replace(edit, end=edit.end - 1, content=edit.content[:-1])
    return replace(edit, start=edit.end - 1, end=edit.end - 1, content="\n" + edit.content[:-1])


def why_not_written(path: Path, old: str, new: str) -> str | None:
    """What keeps the joined text `new` from being written over `old`, None where nothing does: the cells must be the
    same ones, and what in them is not Python must be as it was.
    """
    if not is_notebook(path):
        return None
    try:
        before, after = split(old), split(new)
    except ValueError:
        return "the edit lies outside of the cells"
    if [cell.number for cell in before] != [cell.number for cell in after]:
        return "the edit goes over more than one cell"
    if any(escapes(one.source) != escapes(other.source) for one, other in zip(before, after, strict=True)):
        return "the edit would change a line that is not Python"
    broken = {before[index].number for index in _broken(_python_cells(old))}
    if any(one != other and one.number in broken for one, other in zip(before, after, strict=True)):
        return "the edit would change a cell that cannot be read"
    return None


@dataclass(frozen=True, slots=True)
class _Span:
    """One cell in the joined text: where the line in front of it begins, and where its source begins and ends."""

    number: int
    mark: int
    start: int
    end: int


def _spans(text: str) -> list[_Span]:
    """The cells of a joined text; none where it does not begin with one."""
    first = _FIRST.match(text)
    if first is None:
        return []
    marks = list(_mark(first[1]).finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [_Span(int(mark[1]), mark.start(), mark.end(), end) for mark, end in zip(marks, ends, strict=True)]


def _mark(prefix: str) -> re.Pattern[str]:
    return re.compile(rf"^{re.escape(prefix)} (\d+)\n", re.MULTILINE)
