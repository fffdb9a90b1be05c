"""Comments that silence: taking codes out of them, and putting codes in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from torchrepro_lint.diagnostics import Edit, Finding
from torchrepro_lint.source.lines import line_table
from torchrepro_lint.source.noqa import Directive, Word, read_directives, rows_with_an_end

__all__ = ["silencing", "without_words"]

_BLANK = " \t\f"


def without_words(path: Path, text: str, directive: Directive, words: Collection[Word]) -> Edit:
    """Take `words` out of a directive. When none is left, the directive goes with the reason that is written after it,
    and with it a comment, or a line, that has nothing else.
    """
    left = [word for word in directive.words if word not in words]
    if left:
        head = text[directive.start : directive.words[0].start]
        return Edit(path, directive.start, directive.end, head + ", ".join(word.text for word in left))
    # A reason ends where the next comment begins: `
    behind = text.find("#", directive.end, directive.comment_end)
    if behind != -1:
        return Edit(path, directive.start, behind, "")
    start = directive.start
    while start > 0 and text[start - 1] in _BLANK:
        start -= 1
    table = line_table(text)
    row = table.row(directive.start)
    if start == table.starts[row - 1]:
        end = table.starts[row] if row < len(table.starts) else len(text)
        return Edit(path, start, end, "")
    return Edit(path, start, directive.comment_end, "")


def silencing(path: Path, text: str, python: str, findings: Iterable[Finding], reason: str = "") -> Iterator[Edit]:
    """Silence `findings` of one file, each on the first row of its statement on which a comment can be: inside of a
    string, and after a backslash, there is no room for one. `python` is the text as Python reads it.
    """
    directives = read_directives(python)
    possible = rows_with_an_end(python)
    by_row: dict[int, list[str]] = {}
    for finding in findings:
        start = finding.location.start.row
        codes = by_row.setdefault(_next_from(possible, start), [])
        if finding.code not in codes:
            codes.append(finding.code)
    for row, codes in sorted(by_row.items()):
        yield _with_codes(path, text, row, codes, directives.rows.get(row), reason)


def _next_from(rows: Sequence[int], start: int) -> int:
    """The first of the rows, which are in order, that is not above `start`; `start` itself where there is none."""
    place = bisect_left(rows, start)
    return rows[place] if place < len(rows) else start


def _with_codes(
    path: Path, text: str, row: int, codes: Sequence[str], directive: Directive | None, reason: str
) -> Edit:
    """Silence `codes` on a row: in the directive that it has, else in a new comment at its end, with a reason."""
    if directive is not None and directive.words:
        return Edit(path, directive.end, directive.end, "".join(f", {code}" for code in codes))
    table = line_table(text)
    line = table.line(row)
    start = table.starts[row - 1] + len(line.rstrip())
    end = table.starts[row - 1] + len(line)
    words = f"  # noqa: {', '.join(codes)}" + (f" {reason}" if reason else "")
    return Edit(path, start, end, words)
