"""Cells of a notebook that are not Python: the other cells are read without them, as they run without them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from torchrepro_lint.knowledge.old_syntax import (
    BEGINS_INDENTED,
    BLOCK_LEFT_OUT,
    ENDS_EARLY,
    form_of_no_module,
    is_left_to_do,
    older_form,
)
from torchrepro_lint.quiet import without_warnings
from torchrepro_lint.source.depth import is_too_deep, too_large
from torchrepro_lint.source.magics import commented, parses

__all__ = ["CellError", "as_comment", "error_in", "explained"]

# What makes a cell one whose text is missed where it cannot be read: it draws, seeds, loads, splits or lists, or other
# cells may use what it imports or defines. A path, or a mistyped print, is not missed.
_MISSED = re.compile(
    r"oader|rand|andom|seed|enerator|eterminis|cudnn|listdir|scandir|iterdir|glob|walk\(|_split|set\(|sample|shuffle"
    r"|\b(?:import|def|class|lambda)\b"
)


@dataclass(frozen=True, slots=True)
class CellError:
    """What is wrong in a cell, and where: `row` and `column` start at 1 and count in its source.

    `matters`: the cell has something that a rule could be at, or that other cells may use.
    """

    row: int
    column: int
    reason: str
    matters: bool = True


def error_in(cell: str) -> CellError | None:
    """Why a cell, given with the line in front of it, cannot be read; None where it can."""
    if parses(cell):
        return None
    source = cell.partition("\n")[2].removesuffix("\n")
    try:
        with without_warnings():
            ast.parse(source)
    except SyntaxError as error:
        if _is_read_by_libcst(source):
            return None
        reason, row, column = explained(source, error)
        return CellError(row, column, reason, _MISSED.search(source) is not None)
    except (ValueError, RecursionError, MemoryError):
        return None  # what is nested too deeply is said of the whole file
    return None


def explained(text: str, error: SyntaxError) -> tuple[str, int, int]:
    """Why Python refuses a text, in a few words, and the row and column (from 1) at which it does."""
    row, column = error.lineno or 1, max(error.offset or 1, 1)
    lines = text.splitlines()
    line = lines[row - 1] if row <= len(lines) else ""
    cause = _of_its_line_ends(text) or older_form(line) or form_of_no_module(line)
    if cause is None and isinstance(error, IndentationError) and line[:1].isspace() and _is_first(lines, row):
        cause = BEGINS_INDENTED
    if cause is None and isinstance(error, IndentationError) and _is_left_to_do(error, lines[: row - 1]):
        cause = BLOCK_LEFT_OUT
    if cause is None and isinstance(error, IndentationError) and not any(one.strip() for one in lines[row:]):
        cause = ENDS_EARLY if not line.strip() else None
    return cause or f"syntax error: {error.msg}", row, column


def _is_left_to_do(error: SyntaxError, above: Sequence[str]) -> bool:
    """Whether a comment stands where a block is to be written, in the lines above the one that Python refuses."""
    opened = re.search(r"^expected an indented block after .* on line (\d+)$", error.msg)
    if opened is None:
        return False
    below = [line for line in above[int(opened[1]) :] if line.strip()]
    # The rest of a head of several lines stands above the comments.
    first = next((at for at, line in enumerate(below) if line.lstrip().startswith("#")), len(below))
    return (first == 0 or below[first - 1].rstrip().endswith(":")) and is_left_to_do(below[first:])


def _of_its_line_ends(text: str) -> str | None:
    r"""What is wrong with the line ends of a text that Python would read with plain ones: a line that a backslash
    continues goes on in an empty line if each ends with `\r\r\n`.
    """
    if "\r\r\n" not in text:
        return None
    try:
        with without_warnings():
            ast.parse(text.replace("\r\r\n", "\n"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return r"its lines end with `\r\r\n`, of which Python reads each `\r` as the end of a line: write `\n`"


def _is_first(lines: Sequence[str], row: int) -> bool:
    """Whether there is no code above a row."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in lines[: row - 1])


def as_comment(cell: str) -> str:
    """A cell as a comment of the same length and lines, behind the line in front of it."""
    mark, end, source = cell.partition("\n")
    return mark + end + commented(source)


def _is_read_by_libcst(source: str) -> bool:
    """Whether it is Python of a later version than the one that runs here."""
    if is_too_deep(source) or too_large(source):
        return False  # it would end this process
    import libcst as cst

    try:
        cst.parse_module(source)
    except Exception:  # it refuses texts in several ways
        return False
    return True
