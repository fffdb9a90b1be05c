"""Fixes about environment variables that a program has to set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.switch_fix import is_commented_beside
from torchrepro_lint.fixes.unsafe_reasons import COMMENTED
from torchrepro_lint.program.programs.frequency import Often, frequency
from torchrepro_lint.program.switches.cuda_use import first_use_before

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["correct_value_fix", "set_variable_fix"]


def set_variable_fix(
    program: Program, one: Evidence, variable: str, value: str, around: int | None = None
) -> tuple[Fix | None, str | None]:
    """The fix that sets a variable above a switch, where the environment has not, or why there is none. `around`: the
    site of the `if` whose other arm has a switch as well, above which it is set for both.
    """
    if first_use_before(program.ev, one.frame, one.node.site) is not None:
        return None, "CUDA is used before the switch"
    found = frequency(program, one.frame.facts, one.frame.scope, one.node.site)
    if found.often is Often.AGAIN or _is_switched_off(program, one):
        return None, "the switch is set again and again, and the variable has to be set once, before CUDA is first used"
    document = document_of(program, one.site.path)
    node = document.node_at(*program.parsed(one.site.path).span(one.site.number), cst.Call)
    line = document.statement(node) if node is not None else None
    if around is not None:
        line = _whole(document, document.node_at(*program.parsed(one.site.path).span(around), cst.If))
    if node is None or not isinstance(line, cst.SimpleStatementLine | cst.If):
        return None, "no separate statement can be placed above the switch"
    start = document.start(line)
    indentation = document.text[document.text.rfind("\n", 0, start) + 1 : start]
    if indentation.strip():
        return None, "no separate statement can be placed above the switch"
    planner = ImportPlanner(document)
    environ = planner.find("os", "environ", at=node) or f"{planner.require('os', at=node)}.environ"
    statement = f'{environ}.setdefault("{variable}", "{value}"){document.newline}{indentation}'
    edits = (*planner.edits(), document.replacement(start, start, statement))
    return Fix(Applicability.SAFE, f"Set {variable}", edits), None


def _whole(document: Document, branch: cst.If | None) -> cst.If | None:
    """The `if` to which an `elif` belongs; another one itself."""
    while branch is not None and isinstance(outer := document.parent(branch), cst.If):
        branch = outer
    return branch


def _is_switched_off(program: Program, one: Evidence) -> bool:
    """Whether the function around a switch also turns it off: it is on and off in turns."""
    return one.frame.scope.parent is not None and any(
        other.effect == "algorithms-off" and other.frame.scope is one.frame.scope
        for other in program.evidence_in(one.site.path)
    )


def correct_value_fix(
    program: Program, path: Path, written: tree.Expr | None, value: str
) -> tuple[Fix | None, str | None]:
    """The fix that writes another text in the place of a variable's value, or why there is none. Unsafe where a comment
    stands beside it.
    """
    if not isinstance(written, tree.Const):
        return None, "the value is not written where the variable is set"
    document = document_of(program, path)
    node = document.node_at(*program.parsed(path).span(written.site), cst.BaseExpression)
    if node is None:
        return None, "the value could not be located"
    edit = document.replacement(*document.outer_span(node), f'"{value}"')
    # What a comment says of the old value may not be true of the new one.
    because = COMMENTED if is_commented_beside(document, node) else None
    return Fix.checked(f"Set it to {value}", (edit,), because), None
