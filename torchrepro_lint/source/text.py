"""Files as they are on disk: their bytes, and the text that the bytes say."""

from __future__ import annotations

import ast
import codecs
import io
import re
import stat
import tokenize
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.knowledge.old_syntax import BYTES_IN_COMMENTS, ENDS_WITH_NULL
from torchrepro_lint.source.cells import is_notebook, join, python_text, searched_text, split

if TYPE_CHECKING:
    from torchrepro_lint.source.notebook import Notebook

__all__ = ["Source", "SourceError", "decode", "read_bytes", "read_source", "split_lines", "without_surrogates"]

# Only \n, \r\n and \r end a line for Python; str.splitlines would also split at form feeds and others.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


class SourceError(TorchReproLintError):
    """A file that cannot be read as Python text. `row` and `column` start at 1; `reason` is a few words."""

    def __init__(self, path: Path, row: int, column: int, reason: str) -> None:
        super().__init__(f"{path}:{row}:{column}: {reason}")
        self.path = path
        self.row = row
        self.column = column
        self.reason = reason


@dataclass(frozen=True)
class Source:
    """One file. `bom` says whether it begins with a byte order mark. `given` is the text where the bytes are not all
    there is to it: of a notebook what its cells say, joined (see cells.py), and what an editor holds.
    """

    path: Path
    data: bytes
    encoding: str
    bom: bool
    given: str | None = None
    notebook: Notebook | None = None

    @property
    def text(self) -> str:
        """The text, with the line endings of the file exactly, and no byte order mark. It is decoded each time: most
        files are asked for it once, and kept until the end of a run, texts take twice the memory of bytes.
        """
        return _body(self.data, self.bom).decode(self.encoding) if self.given is None else self.given

    @property
    def python(self) -> str:
        """The text as a parser can read it: with every offset as in `text`, and without what is not Python."""
        return self._python_of_cells if is_notebook(self.path) else self.text

    @cached_property
    def _python_of_cells(self) -> str:
        return python_text(self.path, self.text)

    @property
    def notice(self) -> str | None:
        """What its reader should know of the file, in a sentence; None where there is nothing to say."""
        if self.notebook is None or self.notebook.stale is None:
            return None
        late, early = self.notebook.stale
        return f"cell {late} was last run before cell {early}, which stands above it: its outputs are of another order"

    @cached_property
    def searched(self) -> bytes:
        """What a search for words of the program looks at."""
        return searched_text(self.text).encode("utf-8", "replace") if is_notebook(self.path) else self.data

    def encode(self, text: str) -> bytes:
        """`text` as bytes of this file: in its encoding, with its byte order mark.

        SourceError where the encoding has no bytes for a character, or the cells of a notebook are not what they were.
        """
        if self.notebook is not None:
            try:
                text = self.notebook.with_sources(split(text))
            except ValueError as error:
                raise SourceError(self.path, 1, 1, str(error)) from error
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            before = text[: error.start]
            row = len(split_lines(before + "x"))
            character = text[error.start]
            raise SourceError(self.path, row, 1, f"{self.encoding} has no bytes for {character!r}") from error
        except UnicodeError as error:
            raise SourceError(self.path, 1, 1, f"cannot be written as {self.encoding}: {error}") from error
        return codecs.BOM_UTF8 + data if self.bom else data

    @property
    def survives(self) -> bool:
        """Whether decoding and encoding give the same bytes. Encodings with shift states may not, and those that are
        made for other texts (`idna`, for names of hosts) may encode nothing of the kind.
        """
        try:
            return self.encode(self.text) == self.data
        except SourceError:
            return False


# Cookies of packages that give old Pythons new syntax: the bytes of such a file are UTF-8.
_UTF8_CODECS = (b"future_fstrings", b"future-fstrings", b"future_annotations")


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their endings, as Python counts lines."""
    if "\r" in text:
        return _LINE.findall(text)
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def read_source(path: Path) -> Source:
    """Read and decode `path`. SourceError where either fails."""
    return decode(path, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """The bytes of `path`. SourceError where it cannot be read, or is not a regular file."""
    try:
        # A FIFO would wait for a writer for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(path, 1, 1, "not a regular file")
        return path.read_bytes()
    except OSError as error:
        raise SourceError(path, 1, 1, error.strerror or str(error)) from error


def decode(path: Path, data: bytes) -> Source:
    """The text of `data`: of a notebook, the code of its cells; of any other file, by byte order mark, PEP 263 cookie,
    or as UTF-8. SourceError where it has none.
    """
    if is_notebook(path):
        return _decode_notebook(path, data)
    return _decode(path, data, _encoding(path, data))


def _decode_notebook(path: Path, data: bytes) -> Source:
    from torchrepro_lint.source.notebook import NotebookError, read_notebook

    source = _decode(path, data, "utf-8")
    try:
        notebook = read_notebook(source.text)
    except NotebookError as error:
        raise SourceError(path, error.row, error.column, error.reason) from error
    return replace(source, given=join(notebook.cells), notebook=notebook)


def _decode(path: Path, data: bytes, encoding: str) -> Source:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError(path, 1, 1, "UTF-16, which Python does not read")
    bom = data.startswith(codecs.BOM_UTF8)
    body = _body(data, bom)
    try:
        text = body.decode(encoding)
    except UnicodeError as error:
        if not isinstance(error, UnicodeDecodeError):
            raise SourceError(path, 1, 1, f"not {encoding}: {error}") from error
        start = body.rfind(b"\n", 0, error.start) + 1
        column = len(body[start : error.start].decode(encoding, "replace")) + 1
        row = body.count(b"\n", 0, error.start) + 1
        where = f", {BYTES_IN_COMMENTS}" if _is_compiled(data) else ""
        raise SourceError(path, row, column, f"not {encoding}: {error.reason}{where}") from error
    if text.startswith("\ufeff"):
        raise SourceError(path, 1, 1, "begins with two byte order marks" if bom else "begins with U+FEFF")
    if "\0" in text:
        before, _, after = text.partition("\0")
        lines = split_lines(f"{before}\0")
        is_last = len(lines[-1]) == 1 and not after.strip("\0 \t\r\n")
        raise SourceError(path, len(lines), len(lines[-1]), ENDS_WITH_NULL if is_last else "contains a null character")
    return Source(path, data, encoding, bom)


def _is_compiled(data: bytes) -> bool:
    """Whether Python compiles the bytes of a file, as it does where it imports one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _body(data: bytes, bom: bool) -> bytes:
    return data[len(codecs.BOM_UTF8) :] if bom else data


def _encoding(path: Path, data: bytes) -> str:
    # The cookie can only be in the first two lines, and nearly no file has one: the fast answer first.
    head = data.split(b"\n", 2)[:2]
    if not any(b"coding" in line for line in head):
        return "utf-8"
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(b"\n".join(head) + b"\n").readline)
    except SyntaxError as error:
        if any(codec in line for line in head for codec in _UTF8_CODECS):
            return "utf-8"
        raise SourceError(path, 1, 1, str(error.msg or error)) from error
    name = "utf-8" if name == "utf-8-sig" else name
    try:
        "".encode(name)
        b"".decode(name)
    except (LookupError, TypeError, ValueError) as error:  # `undefined` refuses any text
        raise SourceError(path, 1, 1, f"{name} is not a text encoding") from error
    return name


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each surrogate, so that it can be encoded: an editor may hold half of an emoji.

    In every encoding in which editors count columns, both have the same length.
    """
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
