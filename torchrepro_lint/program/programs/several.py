"""Whether one run of a program makes several objects at one place that it uses beside each other: a loop makes one in
each turn and keeps it, or a function that makes one is called in several places of another. Generators that are seeded
there alike would all give the same numbers.

Trainings that come one after the other are apart: each has the data in the order of its seed. But for those that a loop
repeats as they are, to see how much they differ.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.programs.turns import Turns, may_train, turns_of
from torchrepro_lint.program.programs.varying import differs_by_draws_alone
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.put_away import is_kept
from torchrepro_lint.program.running.way_frames import frames_at, may_have_further_calls
from torchrepro_lint.program.running.ways import MAX_WAYS, Way, Waypoint, never_together, ways

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.program import Program

__all__ = ["is_of_each_item", "makes_several", "serves_several"]

_MAP = re.compile(rb"\bmap\(")


def makes_several(
    program: Program, facts: ModuleFacts, scope: Scope, site: int, idle: frozenset[Frame] = frozenset()
) -> bool:
    """Whether one run of a program may come to a place more than once, tests and further trainings left out; True also
    where not all ways that lead to it are known. Ways on which the place runs in `idle` frames alone do not count.
    """
    key = ("several", facts.path, id(scope), site, idle)
    return program.ev.remembered(key, lambda: _makes_several(program, facts, scope, site, idle), True)


def _makes_several(program: Program, facts: ModuleFacts, scope: Scope, site: int, idle: frozenset[Frame]) -> bool:
    leading = _leading(program, facts, scope, site)
    if idle:
        leading = [way for way in leading if not ((frames := frames_at(program.ev, way)) and idle.issuperset(frames))]
    if len(leading) > MAX_WAYS or any(_is_in_a_loop(program, way) for way in leading):
        return True
    if is_of_each_item(program, facts, scope, site):
        return True
    return any(_of_one_run(program, first, second) for first, second in combinations(leading, 2))


def _leading(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> list[Way]:
    """The ways that lead to a place, but for those through tests, where the place itself is in none."""
    found = ways(program.ev, facts, scope, site)
    return [way for way in found if program.is_test(facts.path) or not program.is_test(way[-1].facts.path)]


def serves_several(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether what one run makes at a place may be used beside what it makes there another time: for two calls of the
    function around it, for a display or a comprehension that keeps it, or for something unseen that is passed the
    function. Not where a loop makes it anew; True where not all ways that lead to the place are known.
    """
    key = ("serves-several", facts.path, id(scope), site)
    return program.ev.remembered(key, lambda: _serves_several(program, facts, scope, site), True)


def _serves_several(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    leading = _leading(program, facts, scope, site)
    if len(leading) > MAX_WAYS or any(_is_passed(way) or _is_put_away(program, way) for way in leading):
        return True
    if any(may_have_further_calls(program.ev, way) for way in leading):
        return True
    frames = contexts(program.ev, facts, scope)
    arms = scope.path_at(site)
    # `make(train=True)` and `make(train=False)`: one of the calls comes to the arm that the place is in.
    is_of_one_call = len(frames) > 1 and sum(program.ev.may_run(site, arms, frame) for frame in frames) == 1
    return any(
        _are_beside(program, first, second)
        for first, second in combinations(leading, 2)
        if not (is_of_one_call and first[:2] != second[:2])
    )


def _is_passed(way: Way) -> bool:
    """Whether a function on a way is passed as an argument, so that something else calls it, as often as it likes."""
    return any(
        isinstance(inner.scope.node, tree.FunctionDef) and outer.scope.call_at(outer.site) is None
        for inner, outer in pairwise(way)
    )


def is_of_each_item(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether something that the program passes code to, such as `map`, makes an object of each item at a place."""
    return any(_is_of_each_item(program, way) for way in _leading(program, facts, scope, site))


def _is_of_each_item(program: Program, way: Way) -> bool:
    """Whether a way leads through a lambda that is passed to something, which may call it with each of its items, or
    through the `__init__` of a class of which `map` makes an object of each.
    """
    lambdas = (outer for inner, outer in pairwise(way) if isinstance(inner.scope.node, tree.Lambda))
    return any(one.scope.call_at(one.site) is None for one in lambdas) or any(
        isinstance(one.scope.node, tree.FunctionDef) and one.scope.node.name == "__init__" and _is_mapped(program, one)
        for one in way
    )


def _is_mapped(program: Program, init: Waypoint) -> bool:
    """Whether the class around an `__init__` is passed to `map`."""
    around = init.scope.parent
    if around is None or not isinstance(around.node, tree.ClassDef):
        return False
    node = around.node
    return program.once(("mapped", init.facts.path, node.site), lambda: _is_class_mapped(program, node))


def _is_class_mapped(program: Program, node: tree.ClassDef) -> bool:
    return any(
        _is_mapped_in(program, facts, scope, call, node)
        for path in program.project.containing(node.name)
        if program.project.holds(path, _MAP) and (facts := program.facts(path)) is not None
        for scope in facts.walk_scopes()
        for call, _ in scope.calls
        if called_name(call.func) == "map" and call.args and called_name(call.args[0].value) == node.name
    )


def _is_mapped_in(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call, node: tree.ClassDef) -> bool:
    program.ev.begin_question()
    return any(
        isinstance(value, ClassValue) and value.node is node
        for frame in contexts(program.ev, facts, scope)
        for value in program.ev.values(call.args[0].value, frame)
    )


def _is_put_away(program: Program, way: Way) -> bool:
    return any(isinstance(one.scope.node, tree.Comprehension) or _is_kept(program, one) for one in way)


def _are_beside(program: Program, first: Way, second: Way) -> bool:
    """Whether one run may take both ways: also where each ends in a function that nothing in the project calls, such as
    two hooks of a framework.
    """
    parting = _parting(first, second)
    if parting is not None and first[parting].scope is not second[parting].scope:
        return any(way[-1].scope.parent is not None for way in (first, second))
    return _of_one_run(program, first, second)


def _parting(first: Way, second: Way) -> int | None:
    """Where two ways to a place part, seen from there; None where the one goes on as far as the other ends."""
    return next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)


def _is_in_a_loop(program: Program, way: Way) -> bool:
    for index, waypoint in enumerate(way):
        parents = parents_of(program.ev, waypoint.facts)
        for branch, arm in reversed(waypoint.path):
            loop = parents.loops.get(branch)
            if arm == "body" and loop is not None:
                if _seeds_before(program, way[:index]) or _seeds_in(program, waypoint, loop):
                    return False
                is_alike = _is_kept(program, waypoint) or differs_by_draws_alone(parents, waypoint.scope, loop)
                return is_alike or turns_of(program, way, index, loop) is not Turns.RUNS
        if isinstance(waypoint.scope.node, tree.Comprehension):
            return not _trains(program, waypoint)
    return False


def _seeds_before(program: Program, inner: Way) -> bool:
    """Whether one of the functions that a way leads through seeds torch before it comes to the place."""
    sites = {id(waypoint.scope): waypoint.site for waypoint in inner}
    return any(id(at.scope) in sites and at.site < sites[id(at.scope)] for at in _seeding(program))


def _seeds_in(program: Program, waypoint: Waypoint, loop: tree.For | tree.While) -> bool:
    """Whether each turn of the loop seeds torch before it comes to a place in it."""
    return any(
        at.scope is waypoint.scope and at.site < waypoint.site and (loop.site, "body") in at.path
        for at in _seeding(program)
    )


def _seeding(program: Program) -> Iterator[Waypoint]:
    """The points of all ways that lead to a seed of torch."""
    for one in program.evidence_of("seed"):
        if "torch" in one.seeds:
            for way in ways_of(program, one):
                yield from way


def _is_kept(program: Program, waypoint: Waypoint) -> bool:
    """Whether what the statement at a place makes is put away beside what other turns make."""
    scope, starts = waypoint.scope, waypoint.scope.statement_sites
    following = bisect_right(starts, waypoint.site)
    end = starts[following] if following < len(starts) else None
    return any(
        waypoint.site <= call.site
        and (end is None or call.site < end)
        and is_kept(program.ev, waypoint.facts, scope, call)
        for call, _ in scope.calls
    )


def _trains(program: Program, waypoint: Waypoint) -> bool:
    call = waypoint.scope.call_at(waypoint.site)
    return call is not None and may_train(program, waypoint.facts, waypoint.scope, call)


def _of_one_run(program: Program, first: Way, second: Way) -> bool:
    """Whether one run may take both ways: where they part, one function makes both, and neither is a training."""
    parting = _parting(first, second)
    if parting is None or first[parting].scope is not second[parting].scope:
        return False
    if _seeds_before(program, first[:parting]) or _seeds_before(program, second[:parting]):
        return False
    if _trains(program, first[parting]) or _trains(program, second[parting]):
        return False
    return not never_together((first[parting:],), (second[parting:],))
