"""New lines above a statement, the imports that they need, and the blank lines that belong around each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.document import Document, is_cell_marker
from torchrepro_lint.fixes.imports import ImportPlanner

__all__ = ["Block", "above_title", "follows_imports", "inserted"]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines to insert, and how many blank lines belong above and below."""

    offset: int
    source: str
    above: int
    below: int


def inserted(document: Document, imports: ImportPlanner, blocks: Sequence[Block]) -> list[Edit]:
    """The edits that insert the planned imports and the blocks below them."""
    edits = imports.edits()
    for block in blocks:
        head = apply_edits(document.text[: block.offset], [edit for edit in edits if edit.start <= block.offset])
        source = _blank_lines(document, head, block.above) + block.source + document.newline * block.below
        edits.append(document.insertion(block.offset, source))
    return edits


def _blank_lines(document: Document, head: str, wanted: int) -> str:
    """What is missing to so many blank lines after `head`."""
    lines = head.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if not filled or is_cell_marker(lines[filled[-1]]):
        return ""
    blank = len(lines) - 2 - filled[-1]
    return document.newline * max(0, wanted - blank)


def follows_imports(document: Document, at: cst.BaseStatement, offset: int) -> bool:
    """Whether imports are above `offset`, at which the lines of `at` begin, with two blank lines between."""
    above = next((one for one in reversed(document.module.body) if document.start(one) < document.start(at)), None)
    if not isinstance(above, cst.SimpleStatementLine) or not isinstance(above.body[-1], cst.Import | cst.ImportFrom):
        return False
    between = document.text[document.next_line(document.end(above)) : offset]
    return not between.strip() and len(between.splitlines()) == 2


def above_title(document: Document, statement: cst.BaseStatement) -> int:
    """Where the lines of a top-level statement begin; a comment one blank line above a definition is its title."""
    offset = document.lead_start(statement)
    row = document.lines.row(offset)
    if not isinstance(statement, cst.FunctionDef | cst.ClassDef) or row < 3 or document.lines.line(row - 1).strip():
        return offset
    # Only what libcst has as comments above the statement: a line of a text in quotes may look like one.
    titles = {line.comment.value for line in statement.leading_lines if line.comment is not None}
    first = row - 1
    while first > 1 and (title := document.lines.line(first - 1)) in titles and not is_cell_marker(title):
        first -= 1
    return document.lines.starts[first - 1] if first < row - 1 else offset
