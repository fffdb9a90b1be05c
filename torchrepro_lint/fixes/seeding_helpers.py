"""Functions through which a program seeds torch with what they are handed: `set_seed(args.seed)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["SeedingHelpers", "seeding_helpers"]

#: The name of each function, with the position and the name of the parameter that torch is seeded with.
SeedingHelpers: TypeAlias = Mapping[str, tuple[int, str]]


def seeding_helpers(program: Program) -> SeedingHelpers:
    """Those of a project, and those of libraries that it calls."""
    return program.once("seeding helpers", lambda: _find(program))


def _find(program: Program) -> SeedingHelpers:
    found: dict[str, tuple[int, str]] = {}
    for one in program.evidence_of("seed"):
        if "torch" not in one.seeds or not isinstance(one.node, tree.Call):
            continue
        called, function = last_part(dotted_name(one.node.func) or ""), one.frame.scope
        if called and called != "manual_seed":
            found.setdefault(called, (0, "seed"))
        parent = function.parent
        if not isinstance(function.node, tree.FunctionDef) or parent is None or isinstance(parent.node, tree.ClassDef):
            continue
        for at, param in enumerate(function.node.params):
            if isinstance(one.value, tree.Name) and one.value.id == param.name:
                found[function.name] = (at, param.name)
    return found
