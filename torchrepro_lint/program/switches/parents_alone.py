"""Switches and processes that begin afresh: those of a process that only starts others, which inherit none of them, and
those of functions that run in such processes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import FunctionValue, MethodValue
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.if_tests import tests_around
from torchrepro_lint.program.running.started_arguments import starts_afresh
from torchrepro_lint.program.running.ways import MAX_WAYS, Way, Waypoint

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_of_a_parent_alone", "is_of_children_alone"]


def is_of_a_parent_alone(program: Program, one: Evidence) -> bool:
    """Whether a switch is set where, after it, `torch.multiprocessing.spawn` is all that runs of the program."""
    frame = frame_without_callers(program.ev, one.frame.facts, one.frame.scope)
    starts = False
    for call, arms in one.frame.scope.calls:
        if call.site <= one.site.number:
            continue
        values = program.ev.values(call.func, frame)
        if arms == one.path and starts_afresh(program.ev, call, frame):
            starts = True
        elif any(isinstance(value, (FunctionValue, MethodValue)) for value in values) or not values:
            return False
    return starts and not isinstance(one.frame.scope.node, tree.ClassDef)


def is_of_children_alone(program: Program, places: tuple[Way, ...], shown: Iterable[tuple[Way, ...]]) -> bool:
    """Whether a place runs in processes alone that begin afresh, without what their parent has set, as that ends with
    an exception where it calls their function itself: there an `if` raises unless a setting is on that the start of the
    processes turns on. `shown` are the ways to what shows a wish: none of it may be set in the processes.
    """
    if len(places) > MAX_WAYS:
        return False
    started = [_started_function(program, way) for way in places]
    if None in started:
        return False
    return not any(one.scope is scope for ways in shown for way in ways for one in way for scope in started)


def _started_function(program: Program, way: Way) -> Scope | None:
    """The function on a way that the caller either starts in processes or calls itself, as a part of a setting is on or
    off that must be on further down: `if args.spawn: spawn(work) else: work()`, `args.distributed = args.spawn or ...`.
    """
    for inner, outer in pairwise(way):
        needed = set(_needed(inner))
        off = {
            name for test, holds in tests_around(outer.scope, outer.path) if not holds and (name := dotted_name(test))
        }
        is_needed = needed and off and any(needed & _set_with(outer.scope, name) for name in off)
        if is_needed and _starts(program, outer, inner.scope.name):
            return inner.scope
    return None


def _starts(program: Program, place: Waypoint, name: str) -> bool:
    """Whether a scope has a call that starts processes in the function of that name."""
    frame = frame_without_callers(program.ev, place.facts, place.scope)
    for call, _ in place.scope.calls:
        if called_name(call.func) == "spawn" and any(dotted_name(arg.value) == name for arg in call.args):
            if starts_afresh(program.ev, call, frame):
                return True
    return False


def _needed(place: Waypoint) -> Iterator[str]:
    """The settings without which a function ends with an exception before a place in it."""
    arms = dict(place.path)
    for branch, statement in place.scope.branches.items():
        around = {one: arm for one, arm in place.scope.path_at(branch) if one != branch}
        if branch < place.site and branch not in arms and around.items() <= arms.items():
            if isinstance(statement, tree.If) and _raises(statement.orelse) and (name := dotted_name(statement.test)):
                yield name


def _raises(block: tree.Block) -> bool:
    """Whether a block always ends with an exception that it raises."""
    match block[-1:]:
        case (tree.Raise(),):
            return True
        case (tree.If(body=body, orelse=orelse),):
            return _raises(body) and _raises(orelse)
    return False


def _set_with(scope: Scope, part: str) -> set[str]:
    """The names that a scope sets to something that is true if `part` is: `args.distributed = size > 1 or part`."""
    return {
        name
        for store in scope.stores
        if part in _alternatives(store.value) and (name := dotted_name(store.target)) is not None
    }


def _alternatives(node: tree.Expr) -> Iterator[str]:
    match node:
        case tree.Boolean(op="or", left=left, right=right):
            yield from _alternatives(left)
            yield from _alternatives(right)
        case _ if (name := dotted_name(node)) is not None:
            yield name
