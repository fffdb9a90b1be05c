"""The fix that gives a listing or a set an order: `sorted(...)` around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.program.evaluation.values import Site

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["sort_fix"]

Planned = tuple[Fix | None, str | None]


def sort_fix(program: Program, site: Site, *, lazy: bool, comparable: bool, by_name: bool = False) -> Planned:
    """Put `sorted(...)` around an expression, or in the place of the `list(...)` around it.

    The fix is safe for elements that are known to be `comparable`, unless they come `lazy` and are consumed as they
    come: sorting has to wait for their end. `by_name`: they are directory entries, which sort by their names only.
    """
    document = document_of(program, site.path)
    node = document.node_at(*program.parsed(site.path).span(site.number), cst.BaseExpression)
    if node is None:
        return None, "the expression could not be located"
    if document.scope_of(node).resolve("sorted") is not None:
        return None, "`sorted` means something else here"
    key = ", key=lambda entry: entry.name" if by_name else ""
    around = _list_around(document, node)
    if around is not None:
        start, end = document.span(around)
        edits = [document.replacement(*document.span(around.func), "sorted")]
        if key:
            edits.append(document.insertion(end - 1, key))
        applicability = Applicability.SAFE if comparable else Applicability.UNSAFE
        return Fix(applicability, "Sort it", tuple(edits)), None
    start, end = document.span(node)
    edits = [document.insertion(start, "sorted("), document.insertion(end, f"{key})")]
    return Fix(Applicability.SAFE if comparable and not lazy else Applicability.UNSAFE, "Sort it", tuple(edits)), None


def _list_around(document: Document, node: cst.BaseExpression) -> cst.Call | None:
    """The call `list(node)`."""
    argument = document.parent(node)
    call = document.parent(argument) if isinstance(argument, cst.Arg) else None
    if (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value == "list"
        and len(call.args) == 1
    ):
        return call
    return None
