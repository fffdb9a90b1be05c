"""The texts and names of the files that a report names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.console import printable
from torchrepro_lint.diagnostics import Edit, Location
from torchrepro_lint.source.cells import Cells, within_cell
from torchrepro_lint.source.lines import LineTable
from torchrepro_lint.source.text import SourceError, read_source, split_lines

if TYPE_CHECKING:
    from torchrepro_lint.source.notebook import Notebook

__all__ = ["Texts"]


class Texts:
    """Reads each file once. `overlay` holds texts that count instead of those on the disk. `folder`, by default the
    current one, is where names of paths start.
    """

    def __init__(self, overlay: Mapping[Path, str] | None = None, folder: Path | None = None) -> None:
        self._overlay = overlay or {}
        self.folder = folder or Path.cwd()
        self._texts: dict[Path, str] = {}
        self._notebooks: dict[Path, Notebook] = {}
        self._lines: dict[Path, list[str]] = {}
        self._tables: dict[Path, LineTable] = {}
        self._cells: dict[Path, Cells | None] = {}

    def text(self, path: Path) -> str:
        """The text of `path`, empty where it cannot be read."""
        if path not in self._texts:
            self._texts[path] = self._overlay[path] if path in self._overlay else self._read(path)
        return self._texts[path]

    def _read(self, path: Path) -> str:
        try:
            source = read_source(path)
        except SourceError:
            return ""
        if source.notebook is not None:
            self._notebooks[path] = source.notebook
        return source.text

    def lines(self, path: Path) -> list[str]:
        """The lines of `path` without their endings."""
        if path not in self._lines:
            self._lines[path] = [line.rstrip("\r\n") for line in split_lines(self.text(path))]
        return self._lines[path]

    def line(self, path: Path, row: int) -> str:
        """One line without its ending, empty where the file has no such row."""
        lines = self.lines(path)
        return lines[row - 1] if 0 < row <= len(lines) else ""

    def edit(self, edit: Edit) -> tuple[Location, str]:
        """What an edit replaces, as rows and columns, and by what; in a notebook, both lie in one cell."""
        own = within_cell(edit, self.text(edit.path))
        return self.range(own), own.content

    def range(self, edit: Edit) -> Location:
        """What an edit replaces, as rows and columns."""
        if edit.path not in self._tables:
            self._tables[edit.path] = LineTable(self.text(edit.path))
        table = self._tables[edit.path]
        return Location(edit.path, table.position(edit.start), table.position(edit.end))

    def cells(self, path: Path) -> Cells | None:
        """Where the cells of a notebook are in its text, None for any other file."""
        if path not in self._cells:
            self._cells[path] = Cells.of(path, self.text(path))
        return self._cells[path]

    def row_in_file(self, path: Path, row: int) -> int:
        """The row of the file itself in which a row of its text is: of a notebook, a row of its JSON; 1 where that
        is not on the disk.
        """
        cells = self.cells(path)
        if cells is None:
            return row
        notebook = self._notebooks.get(path)
        return 1 if notebook is None else notebook.row_in_file(cells.number(row), cells.row_in_cell(row))

    def name(self, path: Path) -> str:
        """The path as a person reads it: relative to the current folder when it lies below, with slashes."""
        try:
            shown = path.relative_to(self.folder)
        except ValueError:
            shown = path
        return printable(str(shown).replace(os.sep, "/"))
