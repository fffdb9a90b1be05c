"""The fix that takes results in the order of what they were made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.knowledge.ordering import ordering_names

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.running.known_calls import KnownCall

__all__ = ["in_order_fix"]


def in_order_fix(program: Program, one: KnownCall) -> tuple[Fix | None, str | None]:
    """`pool.imap` for `pool.imap_unordered`; or why there is no fix."""
    if last_part(one.name).startswith("get"):
        return None, "let each worker put the number of its job beside the result, and sort by it"
    path = one.facts.path
    document = document_of(program, path)
    node = document.node_at(*program.parsed(path).span(one.call.site), cst.Call)
    (name,) = ordering_names("completions", "in_order")
    if node is None or not isinstance(node.func, cst.Attribute) or node.func.attr.value != f"{name}_unordered":
        return None, "take the futures in the order in which they were submitted, or sort by their number"
    edit = document.replacement(*document.span(node.func.attr), name)
    return Fix(Applicability.SAFE, f"Call {name}", (edit,)), None
