"""The fix that makes a dead switch a live one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Edit, Fix
from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.unsafe_reasons import SWITCHED_ON, Because
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.switches import seeding_call

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.switches.dead_switches import DeadSwitch

__all__ = ["dead_switch_fix"]

#: How files that ask for determinism name it, also where it is misspelt.
_DETERMINISM = re.compile(rb"determin")


def dead_switch_fix(program: Program, dead: DeadSwitch) -> tuple[Fix | None, str | None]:
    """The fix, or why there is none."""
    path = dead.frame.facts.path
    document = document_of(program, path)
    target = document.node_at(*program.parsed(path).span(dead.target.site), cst.BaseExpression)
    if target is None:
        return None, "the statement could not be located"
    match dead.fault:
        case "misspelt" | "unbound" if _is_against_the_program(program, dead):
            return None, "spelt right, it would turn on what makes runs of this deterministic program differ: remove it"
        case "misspelt" | "unbound" if isinstance(dead.statement, tree.ExprStmt):
            return None, "the name is a text"
        case "misspelt" | "unbound":
            edits = _renamed(document, target, dead)
            return Fix.checked(f"Set {dead.meant}", tuple(edits), _against(dead)), None
        case "assigned-over":
            edit = _called(document, target, dead)
            if edit is None:
                return None, "the statement assigns to something else too"
            safe = not _is_seeded_elsewhere(program, dead, dead.name)
            return Fix.checked(f"Call {dead.name}", (edit,), None if safe else SWITCHED_ON), None
        case "dropped":
            return _seeding_instead(program, document, target, dead)
        case "unread":
            return None, "which of the draws are to come from it is not known"
        case "gone":
            return None, "operations that have no deterministic implementation would raise"
        case "not-called":
            return None, "the seed to pass is not known"
    return None, "a comparison may be meant"


def _seeding_instead(
    program: Program, document: Document, target: cst.BaseExpression, dead: DeadSwitch
) -> tuple[Fix | None, str | None]:
    """`np.random.seed(seed)` for `np.random.default_rng(seed)`. Beside another seed it is as safe as one for what a
    program leaves out; alone, it would begin the global generator anew each time its function is called.
    """
    statement = dead.statement
    assert isinstance(statement, tree.ExprStmt) and isinstance(statement.value, tree.Call)
    (argument, *more) = statement.value.args
    if more or argument.star or not isinstance(target, cst.Attribute):
        return None, f"call `{dead.meant}` with the seed"
    edits = [document.replacement(*document.span(target.attr), last_part(dead.meant))]
    if argument.keyword is not None:
        span = program.parsed(dead.frame.facts.path).span(argument.value.site)
        node = document.node_at(*program.parsed(dead.frame.facts.path).span(statement.value.site), cst.Call)
        if node is None:
            return None, f"call `{dead.meant}` with the seed"
        edits.append(document.replacement(*document.span(node.args[0]), document.text[slice(*span)]))
    beside = any(one.frame.scope is dead.frame.scope for one in program.evidence_of("seed"))
    safe = beside and not _is_seeded_elsewhere(program, dead, dead.meant)
    return Fix.checked(f"Call {dead.meant}", tuple(edits), None if safe else SWITCHED_ON), None


def _is_seeded_elsewhere(program: Program, dead: DeadSwitch, function: str) -> bool:
    """Whether the programs of the statement seed what a function seeds: that seed would be replaced by this one, or
    this one by that.
    """
    row = seeding_call(canonical(function))
    return row is not None and any(
        one.effect == "seed" and not row.seeds.isdisjoint(one.seeds)
        for one in program.evidence_in_programs_of(dead.frame)
    )


def _is_against_the_program(program: Program, dead: DeadSwitch) -> bool:
    """Whether cuDNN's benchmark mode is meant to be on, in a program that asks for determinism."""
    match dead.statement:
        case tree.Assign(value=tree.Const(value=True)) if last_part(dead.meant) == "benchmark":
            asked = any(one.level == "deterministic" for one in program.evidence_in_programs_of(dead.frame))
            return asked or program.project.holds(dead.frame.facts.path, _DETERMINISM)
    return False


def _against(dead: DeadSwitch) -> Because | None:
    """Unsafe where what never took effect would turn cuDNN off, so that each run would take several times as long; or
    its benchmark mode on, so that runs would differ that agreed.
    """
    match last_part(dead.meant), dead.statement:
        case "enabled", tree.Assign(value=tree.Const(value=True)):
            return None
        case "enabled", _:
            return SWITCHED_ON
        case "benchmark", tree.Assign(value=tree.Const(value=False)):
            return None
        case "benchmark", _:
            return SWITCHED_ON
    return None


def _renamed(document: Document, target: cst.BaseExpression, dead: DeadSwitch) -> list[Edit]:
    """The target's name replaced: the last part alone where the owner is right, else the whole."""
    owner, _, attr = dead.meant.rpartition(".")
    if dead.fault == "misspelt" and dead.name.rpartition(".")[0] == owner and isinstance(target, cst.Attribute):
        return [document.replacement(*document.span(target.attr), attr)]
    planner = ImportPlanner(document)
    torch = planner.require("torch", at=target)
    return [*planner.edits(), document.replacement(*document.span(target), torch + dead.meant.removeprefix("torch"))]


def _called(document: Document, target: cst.BaseExpression, dead: DeadSwitch) -> Edit | None:
    """`torch.manual_seed = 100` as `torch.manual_seed(100)`."""
    statement = dead.statement
    if not isinstance(statement, tree.Assign) or len(statement.targets) > 1 or statement.annotation is not None:
        return None
    assign = next((one for one in document.ancestors(target) if isinstance(one, cst.Assign)), None)
    if assign is None or isinstance(assign.targets[0].target, (cst.Tuple, cst.List)):
        return None
    function = document.text_of(target)
    value = document.text[slice(*document.outer_span(assign.value))]
    return document.replacement(*document.span(assign), f"{function}({value})")
