"""Where a checkpoint that is loaded is read: in the function that loads it, in those that get it from there, and in
those that are handed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import FunctionValue, MethodValue
from torchrepro_lint.program.running.call_index import NamedCall
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.parents import Node, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Reader", "readers"]

_MAX_STEPS = 2


class Reader(NamedTuple):
    """A function that has a checkpoint (None: the module's own code), from a site on. `steps` calls lie between it and
    the load.
    """

    facts: ModuleFacts
    function: Node | None
    start: int
    steps: int


def readers(program: Program, load: KnownCall) -> Iterator[Reader]:
    """The functions that have what a call loads, those nearest to it first."""
    loads = [NamedCall(load.facts, load.scope, load.call, load.arms)]
    for steps in range(_MAX_STEPS):
        for one in loads:
            yield Reader(one.facts, parents_of(program.ev, one.facts).function(one.call), one.call.site, steps)
        for one in loads:
            yield from _handed(program, one, steps + 1)
        loads = [
            place
            for one in loads
            if _is_returned(program, one)
            for place in calling_places(program.ev, one.facts, one.scope)
        ]


def _handed(program: Program, made: NamedCall, steps: int) -> Iterator[Reader]:
    """The project's functions that are handed what a call gives: `restore(torch.load(file), model)`."""
    alone = frame_without_callers(program.ev, made.facts, made.scope)
    name = _name_of(program, made)
    for call, _ in made.scope.calls:
        if call.site != made.call.site and any(_is_it(made, name, arg.value) for arg in call.args):
            for value in ordered(program.ev.values(call.func, alone)):
                function = value.function if isinstance(value, MethodValue) else value
                if isinstance(function, FunctionValue):
                    yield Reader(function.frame.facts, function.node, function.node.site, steps)


def _is_returned(program: Program, made: NamedCall) -> bool:
    """Whether a function returns what a call gives, alone or with other things."""
    given = (statement.value for statement, _ in made.scope.returns if statement.value is not None)
    parts = (part for value in given for part in (value.items if isinstance(value, tree.Display) else (value,)))
    name = _name_of(program, made)
    return any(_is_it(made, name, part) for part in parts)


def _name_of(program: Program, made: NamedCall) -> str | None:
    """The name that gets what a call gives."""
    target = parents_of(program.ev, made.facts).target_of(made.call)
    return target.id if isinstance(target, tree.Name) else None


def _is_it(made: NamedCall, name: str | None, node: tree.Expr) -> bool:
    """Whether an expression is the call, or the name that gets what it gives."""
    return node is made.call or (name is not None and is_named(node, name))
