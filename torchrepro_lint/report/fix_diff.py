"""A fix as a reader of a patch knows it: the lines that go and the lines that come, with their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from torchrepro_lint.diagnostics import Edit, Finding
from torchrepro_lint.fixes.apply import apply_edits, in_order
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.frames import as_shown
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.source.cells import Cells
from torchrepro_lint.source.line_changes import line_changes
from torchrepro_lint.source.lines import LineTable, line_table, shared_start
from torchrepro_lint.source.text import split_lines

__all__ = ["fix_diff"]

_SHOWN_BETWEEN = 2


def fix_diff(finding: Finding, texts: Texts, colours: Colours) -> Iterator[str]:
    """The lines that the fix of `finding` changes, each with its number: the old one where it goes, the new one where
    it comes. `…` stands between changes that lie apart, a line or two between those that do not, and the file's name
    before those of another file. In a notebook, each cell is a text of its own.
    """
    if finding.fix is None:
        return
    for path, group in groupby(in_order(finding.fix.edits), key=lambda edit: edit.path):
        edits = list(group)
        cells = texts.cells(path)
        if cells is not None:
            yield from _changes_of_cells(texts.text(path), edits, cells, texts.name(path), colours)
            continue
        if path != finding.location.path:
            yield f"{texts.name(path)}:"
        yield from _changes(texts.text(path), edits, colours)


def _changes_of_cells(text: str, edits: Sequence[Edit], cells: Cells, name: str, colours: Colours) -> Iterator[str]:
    table = line_table(text)
    for number, group in groupby(edits, key=lambda edit: cells.number(table.row(edit.start))):
        own = list(group)
        first, last = cells.span(table.row(own[0].start))
        start = table.starts[first - 1]
        end = table.starts[last] if last is not None else len(text)
        yield f"{name}:cell {number}:"
        yield from _changes(
            text[start:end], [replace(edit, start=edit.start - start, end=edit.end - start) for edit in own], colours
        )


def _changes(text: str, edits: Sequence[Edit], colours: Colours) -> Iterator[str]:
    table = line_table(text)
    gutter = len(str(len(table.starts) + sum(edit.content.count("\n") for edit in edits)))
    moved = 0
    for number, block in enumerate(_blocks(table, edits)):
        if number:
            yield "…"
        first = table.row(block[0].start)
        start = table.starts[first - 1]
        end = _end_of_row(table, block[-1].end)
        old = split_lines(text[start:end])
        own = [replace(edit, start=edit.start - start, end=edit.end - start) for edit in block]
        new = split_lines(apply_edits(text[start:end], own))
        head = shared_start(old, new)
        tail = shared_start(old[head:][::-1], new[head:][::-1])
        gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
        for kind, left, left_end, right, right_end in line_changes(gone, come):
            if kind == "equal":
                yield from _between(come[right:right_end], first + moved + head + right, gutter)
                continue
            for row, line in enumerate(gone[left:left_end], first + head + left):
                yield colours.gone(f"{row:{gutter}} - {as_shown(line)}".rstrip())
            for row, line in enumerate(come[right:right_end], first + moved + head + right):
                yield colours.good(f"{row:{gutter}} + {as_shown(line)}".rstrip())
        moved += len(new) - len(old)


def _between(lines: Sequence[str], first: int, gutter: int) -> Iterator[str]:
    """What stays between two changes of one place: a line or two as they are, `…` for more."""
    if len(lines) > _SHOWN_BETWEEN:
        yield "…"
        return
    for row, line in enumerate(lines, first):
        yield f"{row:{gutter}}   {as_shown(line)}".rstrip()


def _blocks(table: LineTable, edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """The edits, those together that touch the same row or one below another."""
    block: list[Edit] = []
    for edit in edits:
        if block and table.row(edit.start) > table.row(block[-1].end) + 1:
            yield block
            block = []
        block.append(edit)
    if block:
        yield block


def _end_of_row(table: LineTable, offset: int) -> int:
    """Where the row of `offset` ends, its line ending included."""
    row = table.row(offset)
    return table.starts[row] if row < len(table.starts) else len(table.text)
