"""Files as the editor has them. A notebook is one file for the analysis and a document for each cell in the editor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from torchrepro_lint.diagnostics import Edit, Location, Position
from torchrepro_lint.report.texts import Texts

__all__ = ["Buffer", "Buffers", "Document"]


@dataclass(frozen=True, slots=True)
class Document:
    """What the editor calls a document: a file, or a cell."""

    uri: str
    version: int | None


@dataclass(frozen=True, slots=True)
class Buffer:
    """An open file: its text as the analysis takes it, and the documents it is made of, by the number of their cell;
    the only one of a file that is not a notebook has None.
    """

    path: Path
    text: str
    documents: Mapping[int | None, Document]


class Buffers:
    """All open files at one moment. `encoding` is what the editor counts columns in: utf-8, utf-16 or utf-32."""

    def __init__(self, buffers: Iterable[Buffer], encoding: str = "utf-16") -> None:
        self.by_path = {buffer.path: buffer for buffer in buffers}
        self.texts = {path: buffer.text for path, buffer in self.by_path.items()}
        self._shown = Texts(self.texts)
        self._encoding = encoding

    def documents(self) -> Iterator[Document]:
        """All open documents."""
        for buffer in self.by_path.values():
            yield from buffer.documents.values()

    def path_of(self, uri: str) -> Path | None:
        """The file that a document belongs to, None where it is not open."""
        for path, buffer in self.by_path.items():
            if any(document.uri == uri for document in buffer.documents.values()):
                return path
        return None

    def document(self, path: Path, row: int) -> Document:
        """The document that a row of a file is in; that of the file itself where it is not open."""
        buffer = self.by_path.get(path)
        if buffer is None:
            return Document(path.as_uri(), None)
        cells = self._shown.cells(path)
        number = cells.number(row) if cells is not None else None
        return buffer.documents.get(number) or next(iter(buffer.documents.values()))

    def location(self, location: Location) -> types.Location:
        """A place as the protocol says it."""
        return types.Location(self.document(location.path, location.start.row).uri, self.range(location))

    def range(self, location: Location) -> types.Range:
        """A range within its document: rows and columns from 0, columns in units of the encoding."""
        return types.Range(self._position(location.path, location.start), self._position(location.path, location.end))

    def edit(self, edit: Edit) -> tuple[Document, types.TextEdit]:
        """An edit of a file as one of the document in which it lies."""
        location, content = self._shown.edit(edit)
        return self.document(edit.path, location.start.row), types.TextEdit(self.range(location), content)

    def line(self, path: Path, row: int) -> str:
        """One line of a file without its ending."""
        return self._shown.line(path, row)

    def _position(self, path: Path, position: Position) -> types.Position:
        before = self._shown.line(path, position.row)[: position.column - 1]
        cells = self._shown.cells(path)
        first = cells.span(position.row)[0] if cells is not None else 1
        return types.Position(max(position.row - first, 0), self._units(before))

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32":
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
