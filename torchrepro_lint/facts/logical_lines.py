"""The logical lines of a text: its simple statements and the headers of its compound ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from torchrepro_lint.source.lines import LineTable

__all__ = ["LogicalLines"]


class LogicalLines:
    """Logical lines by their bounds, in characters from the start of the text."""

    def __init__(self, lines: LineTable, bounds: Iterable[tuple[int, int]]) -> None:
        self._lines = lines
        self._bounds = sorted(bounds)

    def rows(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last row of the logical line in which a node begins that has these bounds; those of the
        node itself where it begins in none.
        """
        lines, text = self._lines, self._lines.text
        for place in range(bisect_right(self._bounds, (start, len(text))) - 1, -1, -1):
            first, last = self._bounds[place]
            if start < max(last, first + 1):
                tail = text[first:last].rstrip()
                return lines.row(first), lines.row(first + max(len(tail) - 1, 0))
        return lines.row(start), lines.row(max(start, end - 1))
