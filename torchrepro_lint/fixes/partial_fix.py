"""The fix of a partial seeding: the missing generators are seeded beside the others, with the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.loader_fix import document_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.switches.intent import Evidence

__all__ = ["seed_beside_fix", "seeding_lines"]

_MODULES = {"python": "random", "numpy": "numpy", "torch": "torch"}
_CALLS = {"python": "{0}.seed({1})", "numpy": "{0}.random.seed({1})", "torch": "{0}.manual_seed({1})"}
_LARGEST = 2**32 - 1


def seed_beside_fix(program: Program, block: Evidence, missing: Sequence[str]) -> tuple[Fix | None, str | None]:
    """Lines below the seeding call `block` that seed the generators `missing` with the same expression."""
    if block.value is None:
        return None, "the seed is not written in the call"
    document = document_of(program, block.site.path)
    parsed = program.parsed(block.site.path)
    call = document.node_at(*parsed.span(block.site.number), cst.Call)
    value = document.node_at(*parsed.span(block.value.site), cst.BaseExpression)
    if call is None or value is None:
        return None, "the seeding call could not be located"
    statement = document.statement(call)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None, "the seeding call stands in a line with others"
    if not _may_be_repeated(value):
        return None, "the seed is computed in the call: it cannot be used again"
    seed = document.text_of(value)
    if "numpy" in missing and isinstance(value, cst.Integer) and value.evaluated_value > _LARGEST:
        return None, "NumPy takes no seed of that size"
    planner = ImportPlanner(document)
    lines = seeding_lines(planner, missing, seed, at=statement)
    indentation = document.indentation(document.start(statement))
    offset = document.next_line(document.end(statement))
    text = "".join(f"{indentation}{line}{document.newline}" for line in lines)
    if offset == len(document.text) and not document.text.endswith(("\n", "\r")):
        text = document.newline + text.rstrip("\r\n")
    edits: list[Edit] = [*planner.edits(), document.insertion(offset, text)]
    words = " and ".join(_MODULES[rng] for rng in missing)
    return Fix(Applicability.SAFE, f"Seed {words} with the same seed", tuple(edits)), None


def seeding_lines(planner: ImportPlanner, rngs: Sequence[str], seed: str, *, at: cst.CSTNode) -> list[str]:
    """The statements that seed generators of the main process, with the imports that they need planned."""
    return [_CALLS[rng].format(planner.require(_MODULES[rng], at=at), seed) for rng in rngs]


def _may_be_repeated(value: cst.BaseExpression) -> bool:
    """Whether evaluating an expression a second time gives the same: names, their attributes and items, sums."""
    match value:
        case cst.Name() | cst.Integer():
            return True
        case cst.Attribute(value=inner):
            return _may_be_repeated(inner)
        case cst.Subscript(value=inner):
            return _may_be_repeated(inner)
        case cst.BinaryOperation(left=left, right=right):
            return _may_be_repeated(left) and _may_be_repeated(right)
        case cst.Call(func=cst.Name(value="int"), args=[argument]):
            return _may_be_repeated(argument.value)
    return False
