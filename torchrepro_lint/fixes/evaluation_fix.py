"""The fix that switches a model to evaluation before it is run for its results: `model.eval()` above the statement of
the function in which that is, in programs that train nothing. Elsewhere the training has to switch back, and only its
author knows where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.visibility import is_bound_at

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.seeds.unswitched_evaluation import Evaluation

__all__ = ["evaluation_fix"]


def evaluation_fix(program: Program, one: Evaluation) -> tuple[Fix | None, str | None]:
    """Insert `model.eval()`, or say why that cannot be written. Unsafe: the results of the evaluation change."""
    if one.trains:
        return None, "the program trains as well: `model.eval()` before this, and `model.train()` before it goes on"
    document = document_of(program, one.site.path)
    call = document.node_at(*program.parsed(one.site.path).span(one.site.number), cst.Call)
    if call is None:
        return None, "the call could not be located"
    name = dotted_name(call.func)
    if name is None:
        return None, "the model has no name where it is called"
    at = _statement_of_the_body(document, call)
    if at is None or not is_bound_at(document, name.partition(".")[0], at):
        return None, "the model is not made on every path to this place of the function"
    start = document.line_start(document.start(at))
    if isinstance(at, cst.BaseCompoundStatement):
        start = document.lead_start(at)
    indent = document.indentation(document.start(at))
    edit = document.insertion(start, f"{indent}{name}.eval(){document.newline}")
    return Fix(Applicability.UNSAFE, f"Insert {name}.eval()", (edit,)), None


def _statement_of_the_body(document: Document, call: cst.Call) -> cst.BaseStatement | None:
    """The outermost statement around a call within the body of its function, or of the module: what comes before it
    comes before all loops and `with` blocks around the call. None in a lambda, or in a class that is no method.
    """
    function = document.function(call)
    found: cst.BaseStatement | None = None
    for outer in document.ancestors(call):
        if isinstance(outer, cst.Lambda | cst.ClassDef) or outer is function:
            return found if outer is function else None
        if isinstance(outer, cst.BaseStatement):
            found = outer
    return found
