"""From the program to the files that are fixed: one document for each text of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.document import Document

if TYPE_CHECKING:
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["document_of", "function_of"]


def document_of(program: Program, path: Path) -> Document:
    """The file as the fix planners see it: one as long as its tree is kept."""
    # Not among the answers of the evaluator: where a question has used up its budget, there would be none.
    made = program.places.made(path)
    document = made.get(Document)
    if not isinstance(document, Document):
        parsed = program.parsed(path)
        document = made[Document] = Document(path, parsed.text, program.line_length, parsed)
    return document


def function_of(scope: Scope) -> Scope | None:
    """The function in whose body a scope lies, None for code of a module or class."""
    while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
        scope = scope.parent
    return scope if isinstance(scope.node, tree.FunctionDef) else None
