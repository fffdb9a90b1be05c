"""Where a finding stands, as every format writes it down."""

from __future__ import annotations

from dataclasses import dataclass

from torchrepro_lint.diagnostics import Location, Position
from torchrepro_lint.report.texts import Texts

__all__ = ["Place", "place"]


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
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{self.name}:{cell}{self.start.row}:{self.start.column}"


def place(location: Location, texts: Texts) -> Place:
    """The place of `location`."""
    name = texts.name(location.path)
    cells = texts.cells(location.path)
    if cells is None:
        return Place(name, None, location.start, location.end)
    above = location.start.row - cells.row_in_cell(location.start.row)
    start, end = (Position(at.row - above, at.column) for at in (location.start, location.end))
    return Place(name, cells.number(location.start.row), start, end)
