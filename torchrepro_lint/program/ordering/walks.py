"""Walks over a tree of folders: where the order of the folders and files that they give goes.

A walk gives a folder's path, the names of its folders and those of its files, all in the file system's order. A loop
that sorts any of them is taken to know what it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.ordering.order_flow import Sink, find_sink, find_sink_of_target
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["sink_of_walk"]


def sink_of_walk(program: Program, facts: ModuleFacts, call: tree.Call) -> Sink | None:
    """Where the order of what `os.walk(...)` gives decides something; None where it is sorted, or decides nothing."""
    parents = parents_of(program.ev, facts)
    above = parents.of(call)
    match above:
        case tree.For():
            return None if _sorts_inside(program, facts, above) else find_sink(program, facts, call)
        case tree.Clause():
            around = parents.of(above)
            sorts = isinstance(around, tree.Comprehension) and _sorts_inside(program, facts, around)
            return None if sorts else find_sink(program, facts, call)
        case tree.Arg():
            outer = parents.of(above)
            if isinstance(outer, tree.Call) and called_name(outer.func) == "next":
                return _of_first_folder(program, facts, outer)
            return find_sink(program, facts, call)
        case tree.Assign():
            return find_sink(program, facts, call)
    return None


def _of_first_folder(program: Program, facts: ModuleFacts, first: tree.Call) -> Sink | None:
    """`next(os.walk(root))[1]`, or `_, folders, files = next(os.walk(root))`."""
    match parents_of(program.ev, facts).of(first):
        case tree.Subscript(index=tree.Const(value=1 | 2 | -1)) as names:
            return find_sink(program, facts, names)
        case tree.Assign(targets=(tree.Display(items=(_, *lists)),)):
            found = (find_sink_of_target(program, facts, target) for target in lists)
            return next((sink for sink in found if sink is not None), None)
    return None


def _sorts_inside(program: Program, facts: ModuleFacts, holder: tree.For | tree.Comprehension) -> bool:
    """Whether something is sorted in the body of a loop or in a comprehension."""
    parents = parents_of(program.ev, facts)
    return any(
        "sort" in (called_name(call.func) or "") and any(above is holder for above in parents.around(call))
        for scope in facts.walk_scopes()
        for call, _ in scope.calls
    )
