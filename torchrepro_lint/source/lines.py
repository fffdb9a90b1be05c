"""Rows and columns of a text, by the offsets of its characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from torchrepro_lint.diagnostics import Position

__all__ = ["LineTable", "line_table", "shared_start"]


class LineTable:
    """Turns character offsets of a text into rows and columns, and back."""

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        # Only \n, \r\n and \r end a line for Python and libcst; str.splitlines would also split at form feeds.
        index = 0
        length = len(text)
        while index < length:
            newline = text.find("\n", index)
            carriage = text.find("\r", index, newline if newline != -1 else length)
            if carriage != -1:
                index = carriage + (2 if text.startswith("\r\n", carriage) else 1)
            elif newline != -1:
                index = newline + 1
            else:
                break
            starts.append(index)
        self.starts = starts

    def position(self, offset: int) -> Position:
        row = bisect_right(self.starts, offset)
        return Position(row, offset - self.starts[row - 1] + 1)

    def offset(self, position: Position) -> int:
        return self.starts[position.row - 1] + position.column - 1

    def row(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def line(self, row: int) -> str:
        """The text of a row (from 1) without its line ending."""
        end = self.starts[row] if row < len(self.starts) else len(self.text)
        return self.text[self.starts[row - 1] : end].rstrip("\r\n")


@lru_cache(maxsize=4)
def line_table(text: str) -> LineTable:
    """The table of a text. Those of the last texts are kept, for callers that ask once for each of many findings."""
    return LineTable(text)


def shared_start(first: Sequence[object], second: Sequence[object]) -> int:
    """The number of items, such as lines, with which both begin."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
