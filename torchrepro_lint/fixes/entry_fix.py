"""The canonical seeding block for a program that seeds nothing, below the imports of its file."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.partial_fix import seeding_lines

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.seeds.unseeded import UnseededProgram

__all__ = ["seeding_block", "seeding_block_fix"]


def seeding_block_fix(program: Program, found: UnseededProgram) -> tuple[Fix | None, str | None]:
    """Lines that seed what the program draws from, and torch, below the imports."""
    document = document_of(program, found.run.entry.path)
    edits = seeding_block(document, {rng for rng, _, _ in found.draws} | {"torch"}, str(program.settings.seed))
    if edits is None:
        return None, "the file does not begin with imports"
    return Fix(Applicability.UNSAFE, "Seed the program below its imports", edits), None


def seeding_block(document: Document, drawn: Set[str], seed: str) -> tuple[Edit, ...] | None:
    """The edits that seed the generators `drawn` (`python`, `numpy`, `torch`) with an expression, below the imports of
    a file; None where it does not begin with imports.
    """
    last, first = _around(document)
    if last is None or first is None:
        return None
    planner = ImportPlanner(document)
    rngs = [rng for rng in ("python", "numpy", "torch") if rng in drawn]
    lines = seeding_lines(planner, rngs, seed, at=first)
    newline = document.newline
    offset = document.next_line(document.end(last))
    below = "" if document.text[offset : offset + 1] in ("\r", "\n") else newline
    block = newline + "".join(line + newline for line in lines) + below
    return (*planner.edits(), document.insertion(offset, block))


def _around(document: Document) -> tuple[cst.BaseStatement | None, cst.BaseStatement | None]:
    """The last of the module's leading imports, and the statement after it."""
    body = list(document.module.body)
    last = -1
    for index, statement in enumerate(body):
        if _is_import(statement):
            last = index
        elif isinstance(statement, cst.FunctionDef | cst.ClassDef | cst.For | cst.While | cst.With):
            break
    if last < 0 or last + 1 >= len(body):
        return None, None
    return body[last], body[last + 1]


def _is_import(statement: cst.BaseStatement) -> bool:
    if isinstance(statement, cst.SimpleStatementLine):
        return all(isinstance(small, cst.Import | cst.ImportFrom) for small in statement.body)
    return isinstance(statement, cst.Try) and any(_is_import(inner) for inner in statement.body.body)  # type: ignore[arg-type]
