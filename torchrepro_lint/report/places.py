"""Where a finding is, as every format writes it down."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.diagnostics import Location, Position
from torchrepro_lint.report.texts import Texts

__all__ = ["FileRange", "Place", "file_range", "in_checkout", "place"]


@dataclass(frozen=True, slots=True)
class Place:
    """A range of a file as a reader of a report finds it: rows and columns start at 1, `end` is exclusive.

    `name` is the path relative to the current folder, with slashes; `cell` the number of the cell, from 1, in a
    notebook, whose rows then count from the start of the cell.
    """

    name: str
    cell: int | None
    start: Position
    end: Position

    @property
    def text(self) -> str:
        """`path:row:column`, with the cell after the path where there is one."""
        return f"{self.name}:{self.within}"

    @property
    def within(self) -> str:
        """The same without the path."""
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{cell}{self.start.row}:{self.start.column}"

    @property
    def before_message(self) -> str:
        """What a message begins with where nothing beside it can name a cell: `cell 3:2:5: `, else nothing."""
        return f"{self.within}: " if self.cell is not None else ""


@dataclass(frozen=True, slots=True)
class FileRange:
    """A range as a program that reads the file itself counts: in a notebook, rows of the JSON, where a column of the
    code means nothing.
    """

    start_row: int
    end_row: int
    start_column: int | None = None
    end_column: int | None = None


def file_range(location: Location, texts: Texts) -> FileRange:
    """The range of `location` in its file."""
    start, end = location.start, location.end
    if texts.cells(location.path) is None:
        return FileRange(start.row, end.row, start.column, end.column)
    return FileRange(texts.row_in_file(location.path, start.row), texts.row_in_file(location.path, end.row))


def in_checkout(path: Path, texts: Texts, variable: str) -> str:
    """The path from the top of the repository, which a CI server names in an environment variable and counts from,
    whatever the current folder is; elsewhere the path as a person reads it.
    """
    top = os.environ.get(variable)
    return Texts(folder=Path(top)).name(path) if top and Path(top) in path.parents else texts.name(path)


def place(location: Location, texts: Texts) -> Place:
    """The place of `location`."""
    name = texts.name(location.path)
    cells = texts.cells(location.path)
    if cells is None:
        return Place(name, None, location.start, location.end)
    above = location.start.row - cells.row_in_cell(location.start.row)
    start, end = (Position(at.row - above, at.column) for at in (location.start, location.end))
    return Place(name, cells.number(location.start.row), start, end)
