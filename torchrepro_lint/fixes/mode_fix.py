"""The fix that lets a call of dropout follow the mode of the module around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Fix
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.keyword_fix import keyword_fix
from torchrepro_lint.fixes.unsafe_reasons import ALWAYS

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.seeds.dropout_in_evaluation import LastingDropout

__all__ = ["mode_fix"]


def mode_fix(program: Program, one: LastingDropout) -> tuple[Fix | None, str | None]:
    """Passes `training=self.training`, or a probability of 0 in evaluation. Unsafe: results of evaluations change."""
    if one.row is None:
        return None, "the layer has to be created in the constructor of the module, which then switches it"
    if not one.is_method:
        return None, "the function has no module whose mode it could ask for"
    owner = f"{one.call.scope.self_name}.training"
    if one.row.mode is not None:
        fix, declined = keyword_fix(program, one.site, one.row.mode.name, owner, one.row.mode.position or 0)
    else:
        rate = _written(program, one)
        if rate is None:
            return None, f"`{one.row.rate.name}` is not passed by its name"
        fix, declined = keyword_fix(program, one.site, one.row.rate.name, f"{rate} if {owner} else 0.0")
    return (fix.made_unsafe(ALWAYS["TRL508"]) if fix is not None else None), declined


def _written(program: Program, one: LastingDropout) -> str | None:
    """The probability as the call has it; None where it is not a keyword argument of a form that needs no brackets."""
    document = document_of(program, one.site.path)
    call = document.node_at(*program.parsed(one.site.path).span(one.site.number), cst.Call)
    if call is None or one.row is None:
        return None
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == one.row.rate.name:
            if isinstance(argument.value, (cst.Name, cst.Attribute, cst.Float, cst.Subscript)):
                return document.module.code_for_node(argument.value)
    return None
