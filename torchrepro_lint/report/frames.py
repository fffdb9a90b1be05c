"""Code frames: the line that is meant, its neighbours, and carets below the place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from torchrepro_lint.diagnostics import Location
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.texts import Texts

__all__ = ["as_shown", "code_frame", "shown_line"]

CONTEXT = 2
WIDTH = 120
TAB = 4
_CUT = "…"


def code_frame(location: Location, texts: Texts, colours: Colours) -> Iterator[str]:
    """The lines of a frame around the first row of `location`; none where the file cannot be read.

    A location of several rows is underlined on its first one.
    """
    lines = texts.lines(location.path)
    row = location.start.row
    if not 0 < row <= len(lines):
        return
    cells = texts.cells(location.path)
    top, bottom = cells.span(row) if cells is not None else (1, None)
    first, last = _context(lines, row, top, bottom or len(lines))
    gutter = len(str(last - top + 1))
    ruler = colours.frame(f"{'':{gutter}} |")
    yield ruler
    clip = _Clip(lines[row - 1], location.start.column)
    for number in range(first, last + 1):
        code = clip.show(lines[number - 1])
        yield f"{colours.frame(f'{number - top + 1:{gutter}} |')} {code}".rstrip()
        if number == row:
            end = location.end.column if location.end.row == row else len(lines[row - 1].rstrip()) + 1
            yield f"{ruler} {colours.bad(clip.carets(location.start.column, end))}"
    yield ruler


def shown_line(line: str) -> str:
    """A line of code without its indentation, clipped, as a terminal can show it."""
    return _Clip(line.strip(), 1).show(line.strip())


def as_shown(line: str) -> str:
    """A line of code with its indentation, without its ending, whole, as a terminal can show it."""
    return "".join(shown for shown, _ in _cells(line.rstrip("\r\n")))


def _context(lines: list[str], row: int, top: int, bottom: int) -> tuple[int, int]:
    """First and last row to show around `row`, of those from `top` to `bottom`: no blank lines at the edges."""
    first, last = max(top, row - CONTEXT), min(bottom, row + CONTEXT)
    while first < row and not lines[first - 1].strip():
        first += 1
    while last > row and not lines[last - 1].strip():
        last -= 1
    return first, last


class _Clip:
    """The window of columns that is shown of all lines of a frame. `line` is the one that is meant."""

    def __init__(self, line: str, column: int) -> None:
        self._cells = _cells(line)
        start = self._offset(column)
        total = sum(size for _, size in self._cells)
        # As far to the left as it goes; else with a third of the window before the place.
        fits = total <= WIDTH or start < WIDTH * 2 // 3
        self._left = 0 if fits else start - WIDTH // 3

    def show(self, line: str) -> str:
        """What of `line` lies in the window, with a mark where something is cut off."""
        out, at = [], 0
        cut_left = cut_right = False
        for shown, size in _cells(line):
            if at < self._left:
                cut_left = True
            elif at + size > self._left + WIDTH:
                cut_right = True
                break
            else:
                out.append(shown)
            at += size
        return (_CUT if cut_left else "") + "".join(out) + (_CUT if cut_right else "")

    def carets(self, start: int, end: int) -> str:
        """The carets under the columns `start` to `end` (exclusive) of the line that is meant; at least one."""
        shift = 1 if self._left else 0
        left = self._offset(start) - self._left
        right = min(self._offset(end) - self._left, WIDTH)
        return " " * (left + shift) + "^" * max(1, right - left)

    def _offset(self, column: int) -> int:
        """The cells that come before a column (from 1)."""
        return sum(size for _, size in self._cells[: column - 1])


def _cells(line: str) -> list[tuple[str, int]]:
    """What is shown for each character, and how many cells of a terminal it takes."""
    if line.isascii() and line.isprintable():
        return [(character, 1) for character in line]
    cells = []
    at = 0
    for character in line:
        if character == "\t":
            size = TAB - at % TAB
            cells.append((" " * size, size))
        elif unicodedata.combining(character) or unicodedata.category(character) in ("Me", "Mn", "Cf"):
            size = 0
            # Characters that turn the direction of writing would make code look like what it is not.
            cells.append(("" if unicodedata.category(character) == "Cf" else character, 0))
        elif not character.isprintable():
            size = 1
            cells.append(("�", 1))
        else:
            size = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            cells.append((character, size))
        at += size
    return cells
