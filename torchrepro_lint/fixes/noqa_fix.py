"""Comments that silence: taking codes out of them, and putting codes in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.source.lines import LineTable
from torchrepro_lint.source.noqa import Directive, Word

__all__ = ["with_codes", "without_words"]

_BLANK = " \t\f"


def without_words(path: Path, text: str, directive: Directive, words: Collection[Word]) -> Edit:
    """Take `words` out of a directive. When none is left, the directive goes with the reason that is written behind it,
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
    table = LineTable(text)
    row = table.row(directive.start)
    if start == table.starts[row - 1]:
        end = table.starts[row] if row < len(table.starts) else len(text)
        return Edit(path, start, end, "")
    return Edit(path, start, directive.comment_end, "")


def with_codes(
    path: Path, text: str, row: int, codes: Sequence[str], directive: Directive | None, reason: str = ""
) -> Edit:
    """Silence `codes` on a row: in the directive that it has, else in a new comment at its end, with a reason."""
    if directive is not None and directive.words:
        return Edit(path, directive.end, directive.end, "".join(f", {code}" for code in codes))
    table = LineTable(text)
    line = table.line(row)
    start = table.starts[row - 1] + len(line.rstrip())
    end = table.starts[row - 1] + len(line)
    words = f"  # noqa: {', '.join(codes)}" + (f" {reason}" if reason else "")
    return Edit(path, start, end, words)
