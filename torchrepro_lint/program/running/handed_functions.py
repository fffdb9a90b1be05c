"""The places on the ways in which a statement comes to run, and which calls go on with a way that leads through what
calls a function that it is handed: `run(main)` runs `main`, and `run(test)` does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import FunctionValue
from torchrepro_lint.program.running.alternatives import Arms
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.decorator_uses import is_function
from torchrepro_lint.program.running.handed_over import handed_over
from torchrepro_lint.program.running.option_tests import Asked

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Way", "Waypoint", "handed_at", "handing_over"]


@dataclass(frozen=True, slots=True)
class Waypoint:
    """One place on a way: a statement or call, the scope whose body contains it, and the arms of `if`, `for` and
    similar statements around it. `bound`: the arms in which the name is bound by which the call is made; `asked`: what
    the tests on the way to the place say of options of the command line.
    """

    facts: ModuleFacts
    scope: Scope
    site: int
    path: ArmPath
    bound: Arms = ()
    asked: frozenset[Asked] = frozenset()


#: From the inside out. The first is the statement itself, each further one the call that runs the scope before it: for
#: `torch.manual_seed(0)` in `set_seed`, which `main` calls, that line, then `set_seed()`, then `main()` in the module.
Way = tuple[Waypoint, ...]


def _called_parameter(waypoint: Waypoint) -> str | None:
    """The parameter of the function around a call that the call is of: `function()` in `def run(function)`."""
    call = waypoint.scope.call_at(waypoint.site)
    return _parameter(waypoint.scope, call.func) if call is not None else None


def _parameter(scope: Scope, node: tree.Expr) -> str | None:
    if not isinstance(node, tree.Name) or not isinstance(scope.node, tree.FunctionDef):
        return None
    bindings = scope.bindings.get(node.id, ())
    return node.id if bindings and all(one.kind == "param" for one in bindings) else None


def handing_over(ev: Evaluator, way: Way, further: Sequence[Waypoint]) -> Iterator[Waypoint]:
    """Those of the calls of the function in which a way ends that may hand over the function through which it leads."""
    pending = handed_at(way)
    for waypoint in further:
        if pending is None or _may_hand(ev, waypoint, way[-1].scope, *pending):
            yield waypoint


def handed_at(way: Way) -> tuple[str, Scope] | None:
    """The parameter by which the function that ends a way gets one that the way leads through, and that one."""
    pending: tuple[str, Scope] | None = None
    for index, waypoint in enumerate(way):
        name = _called_parameter(waypoint) if index else None
        if name is not None:
            pending = name, way[index - 1].scope
        elif pending is not None:
            call = waypoint.scope.call_at(waypoint.site)
            _, given = handed_over(call, way[index - 1].scope, pending[0]) if call is not None else (False, None)
            passed = _parameter(waypoint.scope, given) if given is not None else None
            pending = (passed, pending[1]) if passed is not None else None
    return pending


def _may_hand(ev: Evaluator, waypoint: Waypoint, called: Scope, name: str, function: Scope) -> bool:
    call = waypoint.scope.call_at(waypoint.site)
    _, given = handed_over(call, called, name) if call is not None else (False, None)
    if given is None or _parameter(waypoint.scope, given) is not None:
        return True
    values = ev.values(given, frame_without_callers(ev, waypoint.facts, waypoint.scope))
    are_functions = bool(values) and all(isinstance(value, FunctionValue) for value in values)
    return not are_functions or any(is_function(value, function) for value in values)
