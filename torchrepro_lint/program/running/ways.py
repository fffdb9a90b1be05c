"""The ways in which a statement comes to run: from its own scope outwards, up to a module or to a function that nothing
calls.

Two statements can run in the same execution of the program unless they are in different arms (branches) of one `if`.
That `if` may only be visible further out: one helper is called in one arm, another helper in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, MethodValue
from torchrepro_lint.program.running.alternatives import Arms, are_apart, arms_of_name
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.chosen_functions import arm_of_choice, chooses, is_choice, is_chosen
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.handed_functions import Way, Waypoint, handed_at, handing_over
from torchrepro_lint.program.running.handed_over import handed_over
from torchrepro_lint.program.running.if_tests import says, tests_around
from torchrepro_lint.program.running.option_tests import Asked, asked_by_all_callers, contradict
from torchrepro_lint.program.running.references import known_places_of_use

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "Way",
    "Waypoint",
    "calls_itself",
    "chosen_by",
    "comes_later",
    "ends_behind",
    "given_to_both",
    "is_followed_by",
    "meet",
    "never_together",
    "own_way",
    "runs_as_script",
    "runs_whenever",
    "runs_with",
    "surely_before",
    "ways",
]

MAX_WAYS = 16
MAX_LENGTH = 12


def ways(ev: Evaluator, facts: ModuleFacts, scope: Scope, site: int) -> tuple[Way, ...]:
    """The ways that lead to a place, shortest first; never empty. Where there are or may be more, or a longer one than
    `MAX_LENGTH`, the place alone fills them up to more than `MAX_WAYS`: nothing is proven of all of them then.

    A function that nothing in the project calls ends a way, as a module does.
    """
    is_whole = True
    found: list[Way] = []
    pending: list[Way] = [(_with_options(ev, _waypoint(facts, scope, site)),)]
    while pending and len(found) < MAX_WAYS:
        way = pending.pop(0)
        further, are_all = _outward(ev, way[-1])
        outer = [waypoint for waypoint in further if all(waypoint.scope is not one.scope for one in way)]
        outer = list(handing_over(ev, way, outer))
        is_whole = is_whole and are_all
        if outer and len(way) >= MAX_LENGTH:
            outer, is_whole = [], False
        if not outer:
            found.append(way)
        # Each way that is pending becomes at least one: there is no room for more of them than there may be ways.
        room = MAX_WAYS - len(found) - len(pending)
        is_whole = is_whole and len(outer) <= room
        pending.extend((*way, _with_options(ev, waypoint)) for waypoint in outer[:room])
    if is_whole and not pending:
        return tuple(found)
    return (*found, *repeat(own_way(facts, scope, site), MAX_WAYS + 1 - len(found)))


def own_way(facts: ModuleFacts, scope: Scope, site: int) -> Way:
    """The way that consists of the place alone."""
    return (_waypoint(facts, scope, site),)


def _waypoint(facts: ModuleFacts, scope: Scope, site: int) -> Waypoint:
    return Waypoint(facts, scope, site, scope.path_at(site))


def _with_options(ev: Evaluator, waypoint: Waypoint) -> Waypoint:
    """The place with what its function surely asks of options, whoever calls it."""
    asked = asked_by_all_callers(ev, waypoint.facts, waypoint.scope, waypoint.site)
    return replace(waypoint, asked=asked) if asked else waypoint


def _asked(way: Way) -> frozenset[Asked]:
    return frozenset().union(*(waypoint.asked for waypoint in way))


def _outward(ev: Evaluator, waypoint: Waypoint) -> tuple[list[Waypoint], bool]:
    """The places that make the scope of `waypoint` run, and whether these are all."""
    scope, node = waypoint.scope, waypoint.scope.node
    if scope.parent is None or node is None:
        return [], True
    if not isinstance(node, tree.FunctionDef):
        return [_waypoint(waypoint.facts, scope.parent, node.site)], True
    uses, are_all = known_places_of_use(ev, waypoint.facts, scope, MAX_WAYS)
    if not uses and node.name == "__init__":
        made = list(_where_made(ev, waypoint))
        return made[:MAX_WAYS], are_all and len(made) <= MAX_WAYS
    return [_use(ev, scope, *one) for one in uses], are_all


def _use(ev: Evaluator, called: Scope, facts: ModuleFacts, scope: Scope, use: tree.Expr) -> Waypoint:
    """A call of a function, or the place where it is given to what calls it: one of several in a table of commands."""
    choice = arm_of_choice(ev, facts, use) if not isinstance(use, tree.Call) else ()
    path = (*scope.path_at(use.site), *choice)
    return Waypoint(facts, scope, use.site, path, arms_of_name(ev, facts, scope, use, called))


def _where_made(ev: Evaluator, waypoint: Waypoint) -> Iterator[Waypoint]:
    """The places that make objects of the class in whose `__init__` the place is."""
    cls = waypoint.scope.parent
    if cls is None or cls.parent is None or cls.parent.parent is not None or not isinstance(cls.node, tree.ClassDef):
        return
    for one in making_places(ev, ClassValue(cls.node, ev.module_frame(waypoint.facts)), MAX_WAYS + 1):
        bound = arms_of_name(ev, one.facts, one.scope, one.call, waypoint.scope)
        yield replace(_waypoint(one.facts, one.scope, one.call.site), bound=bound)


# --- two places ---------------------------------------------------------------------------------------------------


def _meeting(first: Way, second: Way) -> tuple[int, int] | None:
    """Where both ways are in the innermost scope that they share. One that calls what it is handed is no such scope: it
    runs for each of its calls.
    """
    for index, waypoint in enumerate(first):
        for at, other in enumerate(second):
            if waypoint.scope is other.scope:
                if waypoint.site != other.site or handed_at(first[: index + 1]) is None:
                    return index, at
    return None


def meet(first: tuple[Way, ...], second: tuple[Way, ...]) -> bool:
    """Whether any two ways to two places share a scope."""
    return any(_meeting(one, other) is not None for one in first for other in second)


def never_together(first: tuple[Way, ...], second: tuple[Way, ...]) -> bool:
    """Whether the two statements exclude each other on every pair of ways that meet, or that ask for one option."""
    if max(len(first), len(second)) > MAX_WAYS:
        return False
    pairs = (_are_apart(one, other) for one in first for other in second)
    verdicts = [verdict for verdict in pairs if verdict is not None]
    return bool(verdicts) and all(verdicts)


def _are_apart(one: Way, other: Way) -> bool | None:
    """Whether no run takes both ways; None where they do not meet."""
    if contradict(_asked(one) | _asked(other)):
        return True
    met = _meeting(one, other)
    if met is None:
        return None
    first, second = one[met[0]], other[met[1]]
    return (
        _are_exclusive(first, second)
        or (first.site == second.site and (chooses(first.scope, first.site) or _is_handed_a_choice(one[: met[0] + 1])))
        or are_apart(_bound(one), _bound(other))
    )


def _bound(way: Way) -> Arms:
    return tuple(arm for waypoint in way for arm in waypoint.bound)


def is_followed_by(first: tuple[Way, ...], second: tuple[Way, ...]) -> bool:
    """Whether the second statement certainly runs after the first one, wherever their ways meet."""
    return comes_later(first, second) and runs_with(first, second)


def ends_behind(first: tuple[Way, ...], second: tuple[Way, ...]) -> list[tuple[Waypoint, Waypoint]] | None:
    """For each way of the first statement that meets one of the second: where they meet, on one on which the second
    certainly runs after the first; it may have run before as well. None where one of them has no such way.
    """
    if max(len(first), len(second)) > MAX_WAYS:
        return None
    found: list[tuple[Waypoint, Waypoint]] = []
    for one in first:
        met = _meetings((one,), second)
        behind = [(a, b) for a, b in met if a.site < b.site and _surely_with(b, a)]
        if met and not behind:
            return None
        found += behind[:1]
    return found or None


def comes_later(first: tuple[Way, ...], second: tuple[Way, ...]) -> bool:
    """Whether the second statement, if it runs, runs after the first one, wherever their ways meet."""
    met = _meetings(first, second)
    return bool(met) and all(a.site < b.site for a, b in met)


def runs_with(first: tuple[Way, ...], second: tuple[Way, ...]) -> bool:
    """Whether the second statement runs in every run in which the first one does, wherever their ways meet."""
    met = _meetings(first, second)
    return bool(met) and all(_surely_with(b, a) for a, b in met)


def _meetings(first: tuple[Way, ...], second: tuple[Way, ...]) -> list[tuple[Waypoint, Waypoint]]:
    """Where the ways meet; nowhere if there are more of them than are known."""
    if max(len(first), len(second)) > MAX_WAYS:
        return []
    pairs = ((one, other, _meeting(one, other)) for one in first for other in second)
    return [(one[met[0]], other[met[1]]) for one, other, met in pairs if met is not None]


def surely_before(switch: Way, way: Way) -> tuple[int, int] | None:
    """How late a statement that runs whenever the way is taken comes before the beginning of the way: the larger, the
    later. None if it comes after the beginning, or may be skipped.
    """
    met = _meeting(way, switch)
    if met is None:
        return None
    place, other = way[met[0]], switch[met[1]]
    if other.site >= place.site or not _surely_with(other, place):
        return None
    return -way.index(place), other.site


def _are_exclusive(first: Waypoint, second: Waypoint) -> bool:
    """Whether two places of one scope never run in the same run of it: they are in different arms, or one comes after
    an arm that leaves the scope.
    """
    arms = dict(second.path)
    for branch, arm in first.path:
        is_one_taken = is_choice(branch) or isinstance(first.scope.branches.get(branch), (tree.If, tree.Match))
        if is_one_taken and arms.get(branch, arm) != arm:
            return True
    early, late = (first, second) if first.site < second.site else (second, first)
    late_branches = {branch for branch, _ in late.path}
    return any(inner in early.scope.ended for inner in early.path if inner[0] not in late_branches)


def _is_handed_a_choice(way: Way) -> bool:
    """Whether the call at the end of a way hands over one function of a table, and what it calls calls that."""
    *inner, last = way
    handed = handed_at(tuple(inner))
    call = last.scope.call_at(last.site) if handed is not None else None
    if call is None or handed is None:
        return False
    _, given = handed_over(call, inner[-1].scope, handed[0])
    return given is not None and is_chosen(last.scope, given, last.site)


def _surely_with(inner: Waypoint, outer: Waypoint) -> bool:
    """Whether `inner` runs wherever `outer` does: all arms around it are also around `outer`."""
    own = set(outer.path)
    return all(arm in own or arm[1] == "try" or _is_main_guard(inner.scope, *arm) for arm in inner.path)


def _is_main_guard(scope: Scope, branch: int, arm: str) -> bool:
    statement = scope.branches.get(branch)
    return arm == "then" and statement is not None and is_main_guard(statement)


def runs_whenever(way: Way, places: tuple[Way, ...]) -> bool:
    """Whether what a way leads to runs in each run that comes to a place, as far as `if` decides: around no point of
    the way is an arm of an `if` that is not around a point of one of the ways to the place.
    """
    around = {(id(waypoint.scope), arm) for other in places for waypoint in other for arm in waypoint.path}
    return all(
        (id(waypoint.scope), arm) in around or _is_main_guard(waypoint.scope, *arm)
        for waypoint in way
        for arm in waypoint.path
        if isinstance(waypoint.scope.branches.get(arm[0]), tree.If)
    )


def runs_as_script(way: Way) -> bool:
    """Whether the way begins under `if __name__ == "__main__":`, so that importing the module does not run it."""
    last = way[-1]
    return any(_is_main_guard(last.scope, *arm) for arm in last.path)


# --- what is asked around a place ------------------------------------------------------------------------------------


def chosen_by(all_ways: tuple[Way, ...], word: re.Pattern[str], *, wanted: bool) -> bool:
    """Whether on every way the place is inside an `if` about a name that contains `word`, in the arm where it is true
    (`wanted`) or in the one where it is false.
    """
    return all(_says(way, word, wanted=wanted) for way in all_ways)


def _says(way: Way, word: re.Pattern[str], *, wanted: bool) -> bool:
    """Whether an `if` around a place of the way tests a name that contains `word`, in the arm where it is true
    (`wanted`) or false.
    """
    return any(
        says(test, holds, word) is wanted
        for waypoint in way
        for test, holds in tests_around(waypoint.scope, waypoint.path)
    )


# --- a function that is called more than once -------------------------------------------------------------------------


def given_to_both(first: Waypoint, second: Waypoint) -> str | None:
    """A name that two calls in one function are given, or that has the method which both call: it may be the model, or
    hold it.
    """
    if first.scope is not second.scope:
        return None
    given: list[set[str]] = []
    for one in (first, second):
        call = one.scope.call_at(one.site)
        if call is None:
            return None
        owner = call.func.value if isinstance(call.func, tree.Attribute) else None
        values = (*(argument.value for argument in call.args), owner)
        given.append({value.id for value in values if isinstance(value, tree.Name)})
    made = (name for name in sorted(given[0] & given[1]) if len(first.scope.bindings.get(name, ())) == 1)
    return next(made, None)


def calls_itself(ev: Evaluator, waypoint: Waypoint) -> bool:
    """Whether a function has a call of its own name that means it: `if epoch < last: run(epoch + 1, last)`."""
    node, scope = waypoint.scope.node, waypoint.scope
    if not isinstance(node, tree.FunctionDef):
        return False
    named = [call for call, _ in scope.calls if called_name(call.func) == node.name]
    if not named:
        return False
    frame = frame_without_callers(ev, waypoint.facts, scope)
    values = (value for call in named for value in ev.values(call.func, frame))
    functions = (one.function if isinstance(one, MethodValue) else one for one in values)
    return any(isinstance(one, FunctionValue) and one.node is node for one in functions)
