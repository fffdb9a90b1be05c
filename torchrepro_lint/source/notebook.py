"""Notebooks as Jupyter keeps them: JSON, in which only the `source` of code cells is ever changed, and only in place.

The format is https://nbformat.readthedocs.io/en/latest/format_description.html, version 4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torchrepro_lint.knowledge.old_syntax import NOTEBOOK_FORMAT
from torchrepro_lint.source.cells import Cell
from torchrepro_lint.source.line_changes import line_changes

__all__ = ["Notebook", "NotebookError", "read_notebook"]


def _integer(digits: str) -> int:
    """An integer of the JSON; 0 for one of more digits than Python converts: none that is looked at has as many."""
    try:
        return int(digits)
    except ValueError:
        return 0


_CONFLICT = re.compile(r"^<<<<<<< ", re.MULTILINE)
_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)
_BLANK = re.compile(r"[ \t\r\n]*")
# What is in a string of JSON for one line of the text, its newline included.
_RAW_LINE = re.compile(r"(?:[^\\\n]|\\(?:u(?!000[aA])[0-9a-fA-F]{4}|[^nu]))*(?:\\n|\\u000[aA]|\n)|.+", re.DOTALL)
_NON_ASCII_ESCAPE = re.compile(r"\\u(?!00[0-7])")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotebookError(ValueError):
    """A file that is not a notebook of a version that is read. `row` and `column` start at 1 and count in the file."""

    def __init__(self, reason: str, row: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.row = row
        self.column = column
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Notebook:
    """One notebook. `text` is the JSON, `cells` its cells of Python code; there are none in a notebook whose kernel is
    of another language. `stale` names a cell that was last run before one that is above it: the one, the other.
    """

    text: str
    cells: tuple[Cell, ...]
    stale: tuple[int, int] | None = None

    def with_sources(self, cells: list[Cell]) -> str:
        """The JSON with the sources of `cells` in the place of those that have changed. Nothing else differs: lines
        that stay keep their escapes, and a source that was a list of lines, or one string, remains that.
        """
        changed = {new.number: new.source for old, new in zip(self.cells, cells, strict=True) if old != new}
        if not changed:
            return self.text
        text, parts, done = self.text, [], 0
        for number, (start, end) in _sources(text):
            if number in changed:
                parts += [text[done:start], _replaced(text[start:end], changed[number], _is_ascii(text))]
                done = end
        return "".join(parts) + text[done:]

    def row_in_file(self, cell: int, row: int) -> int:
        """The row of the JSON in which a row of the source of a cell is; the first one where there is none."""
        for number, (start, end) in _sources(self.text):
            if number == cell:
                tokens = list(_items(self.text, start)) if self.text[start] == "[" else [(start, end)]
                seen = 0
                for at, after in tokens:
                    seen += len(_raw_lines(self.text[at:after]))
                    if seen >= row or after == tokens[-1][1]:
                        return self.text.count("\n", 0, at) + 1
        return 1


def read_notebook(text: str) -> Notebook:
    """The notebook that `text`, the content of an .ipynb file, says. NotebookError where it says none."""
    try:
        document = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        conflict = _CONFLICT.search(text)
        if conflict is not None:
            row = text.count("\n", 0, conflict.start()) + 1
            raise NotebookError("an unresolved merge conflict", row, 1) from None
        what = error.msg.removesuffix(" starting at")  # the place is not in the message
        raise NotebookError(f"not valid JSON: {what}", error.lineno, error.colno) from None
    except RecursionError:
        raise NotebookError("not valid JSON: nested too deeply") from None
    if not isinstance(document, dict) or not isinstance(document.get("nbformat"), int):
        raise NotebookError("not a notebook: the JSON has no `nbformat`")
    if document["nbformat"] != 4:
        format_ = f"{NOTEBOOK_FORMAT} {document['nbformat']}"
        raise NotebookError(f"{format_}: convert it to 4 (jupyter nbconvert --to notebook --inplace)")
    cells = document.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise NotebookError("not a notebook: `cells` is not a list of objects")
    if not _is_python(document.get("metadata")):
        return Notebook(text, ())
    found = tuple(Cell(number, _source(cell, number)) for number, cell in enumerate(cells, 1) if _holds_python(cell))
    return Notebook(text, found, _stale(cells))


# --- which cells ------------------------------------------------------------------------------------------------------


def _is_python(metadata: Any) -> bool:
    """Whether the kernel runs Python, as far as the notebook says; one that says nothing does."""
    languages = []
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        table = metadata.get(key) if isinstance(metadata, dict) else None
        language = table.get(name) if isinstance(table, dict) else None
        if isinstance(language, str):
            languages.append(language.lower())
    return all(language in ("python", "ipython", "") for language in languages)


def _holds_python(cell: Mapping[str, Any]) -> bool:
    if cell.get("cell_type") != "code":
        return False
    # Visual Studio Code lets a cell have a language of its own.
    metadata = cell.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    return language in (None, "python")


def _source(cell: Mapping[str, Any], number: int) -> str:
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise NotebookError(f"not a notebook: the source of cell {number} is neither a string nor a list of them")
    if "\0" in source or _SURROGATE.search(source):
        raise NotebookError(f"cell {number} holds a character that Python does not read")
    return source


def _stale(cells: list[Any]) -> tuple[int, int] | None:
    """The first cell whose execution count is below that of one above it, with that one."""
    highest, holder = 0, 0
    for number, cell in enumerate(cells, 1):
        count = cell.get("execution_count")
        if cell.get("cell_type") != "code" or not isinstance(count, int):
            continue
        if count < highest:
            return number, holder
        highest, holder = count, number
    return None


# --- where in the JSON ------------------------------------------------------------------------------------------------


def _sources(text: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """Number and span of the value of `source` of every cell that has one. The text is known to be valid."""
    start, _ = dict(_members(text, _after_blank(text, 0)))["cells"]
    for number, (at, _) in enumerate(_items(text, start), 1):
        span = dict(_members(text, at)).get("source")
        if span is not None:
            yield number, span


def _members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The keys of the object that begins at `at`, with the spans of their values."""
    at = _after_blank(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _after_blank(text, _after_blank(text, at) + 1)
        end = _DECODER.raw_decode(text, start)[1]
        yield key, (start, end)
        at = _after_comma(text, end)


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The spans of the items of the array that begins at `at`."""
    at = _after_blank(text, at + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        yield at, end
        at = _after_comma(text, end)


def _after_comma(text: str, at: int) -> int:
    at = _after_blank(text, at)
    return _after_blank(text, at + 1) if text[at] == "," else at


def _after_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None  # it matches nothing at least
    return match.end()


# --- putting a source into the JSON -----------------------------------------------------------------------------------


def _replaced(value: str, source: str, ascii_only: bool) -> str:
    """The JSON `value` of a source, a string or an array of strings, with another text in it."""
    raws = _new_raws(_raw_lines(value), source, ascii_only)
    if not value.startswith("["):
        return '"' + "".join(raws) + '"'
    spans = list(_items(value, 0))
    first, last = (spans[0][0], spans[-1][1]) if spans else (1, len(value) - 1)
    between = value[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + (value[1:first] or " ")
    return value[:first] + between.join(f'"{raw}"' for raw in raws) + value[last:]


def _new_raws(old: list[str], source: str, ascii_only: bool) -> list[str]:
    """The lines of `source` as they stand between quotes; a line that was there before looks as it did."""
    before = [_unescaped(raw) for raw in old]
    after = re.findall(r"[^\n]*\n|[^\n]+", source)
    raws: list[str] = []
    for kind, old_start, old_end, new_start, new_end in line_changes(before, after):
        if kind == "equal":
            raws += old[old_start:old_end]
        else:
            raws += [json.dumps(line, ensure_ascii=ascii_only)[1:-1] for line in after[new_start:new_end]]
    return raws


def _raw_lines(value: str) -> list[str]:
    """What is in the strings of a source for each of its lines."""
    tokens = [value[start:end] for start, end in _items(value, 0)] if value.startswith("[") else [value]
    return _RAW_LINE.findall("".join(token[1:-1] for token in tokens))


def _unescaped(raw: str) -> str:
    text: str = _DECODER.decode(f'"{raw}"')
    return text


def _is_ascii(text: str) -> bool:
    """Whether whoever wrote the file escapes what is not ASCII."""
    return text.isascii() and _NON_ASCII_ESCAPE.search(text) is not None
