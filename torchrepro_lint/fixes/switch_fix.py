"""The fix that gives a switch of the program another value, planned from where the program sets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.loader_fix import document_of

if TYPE_CHECKING:
    from torchrepro_lint.program.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["set_value_fix"]


def set_value_fix(
    program: Program, one: Evidence, text: str, applicability: Applicability = Applicability.SAFE
) -> tuple[Fix | None, str | None]:
    """The fix that writes `text` in the place of the value that a switch gets, or why there is none."""
    if one.value is None:
        return None, "the value is not written where it is switched"
    if isinstance(one.node, tree.Assign) and len(one.node.targets) > 1:
        return None, "the same statement assigns the value to something else too"
    document = document_of(program, one.site.path)
    value = document.node_at(*program.parsed(one.site.path).span(one.value.site), cst.BaseExpression)
    if value is None:
        return None, "the value could not be located"
    edit = document.replacement(*document.outer_span(value), text)
    return Fix(applicability, f"Set it to {text}", (edit,)), None
