"""Loaders before each pass over which torch is seeded: their order repeats, whatever else draws.

    for decay in (1e-4, 1e-3, 1e-2):
        torch.manual_seed(0)  # each try is to see the same batches
        for images, labels in loader:
            ...

A generator of the loader's own would go on from one try to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import FunctionValue
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.running.callees import frame_without_callers
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.never_read import uses_of_its_name
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import Way, Waypoint, own_way
from torchrepro_lint.program.seeds.torch_seeds import missing_arms, seedings_around, seeds_what_follows

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["is_seeded_before_each_pass"]


def is_seeded_before_each_pass(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether each use of the loader that a call in `scope` makes is in a loop below it, each turn of which seeds torch
    above the use, or hands the loader to a function that seeds torch first.
    """
    return program.once(
        ("seeded before each pass", facts.path, call.site), lambda: _are_seeded_first(program, facts, scope, call)
    )


def _are_seeded_first(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    uses = _uses(program, facts, scope, call)
    if not uses:
        return False
    ways = [
        way
        for one in seedings_around(program, facts, scope)
        if "torch" in one.seeds and seeds_what_follows(program, one)
        for way in (*ways_of(program, one), *_ways_from(program, facts, scope, one))
    ]
    return bool(ways) and all(_is_seeded_first(program, facts, at, use, call, ways) for use, at in uses)


def _ways_from(program: Program, facts: ModuleFacts, scope: Scope, one: Evidence) -> Iterator[Way]:
    """The ways to a seed through the calls in `scope` of the function that seeds, of which many others may be made."""
    node = one.frame.scope.node
    if not isinstance(node, tree.FunctionDef):
        return
    alone = frame_without_callers(program.ev, facts, scope)
    for call, path in scope.calls:
        if called_name(call.func) is not None:
            values = program.ev.values(call.func, alone)
            if any(isinstance(value, FunctionValue) and value.node is node for value in values):
                own = own_way(one.frame.facts, one.frame.scope, one.site.number)
                yield (*own, Waypoint(facts, scope, call.site, path))


def _uses(
    program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call
) -> Sequence[tuple[tree.Name, Scope]] | None:
    """Where the loader is read, by its name; None where it may be read elsewhere. The name is read where it stands in
    a notebook or a script that no other file imports.
    """
    uses = uses_of_its_name(program.ev, facts, call)
    if uses is not None or scope is not facts.scope or program.imports.importers(facts.path):
        return uses
    parents = parents_of(program.ev, facts)
    target = parents.target_of(call)
    if not isinstance(target, tree.Name) or len(scope.bindings.get(target.id, ())) != 1:
        return None
    reads = parents.reads(target.id)
    inner = [one for use in reads for one in parents.around(use) if isinstance(one, tree.FunctionDef | tree.ClassDef)]
    return None if inner else [(use, scope) for use in reads]


def _is_seeded_first(
    program: Program, facts: ModuleFacts, scope: Scope, use: tree.Name, made: tree.Call, ways: Sequence[Way]
) -> bool:
    parents = parents_of(program.ev, facts)
    around = list(parents.around(use))
    calls = {outer.site for outer in around if isinstance(outer, tree.Call)}
    if any(_begins_with_it(way, facts, calls) for way in ways):
        return True
    statement = parents.statement(use)
    assert not isinstance(statement, tree.Clause | tree.Case)
    outside = {id(one) for one in parents.around(made)}
    place = Waypoint(facts, scope, statement.site, scope.path_at(statement.site))
    turns = [one for one in around if isinstance(one, tree.For | tree.While) and one is not statement]
    bodies = {(turn.site, "body") for turn in turns if id(turn) not in outside}
    return any(
        not bodies.isdisjoint(one.path) and missing_arms(place, way) == ()
        for way in ways
        for one in way
        if one.scope is scope
    )


def _begins_with_it(way: Way, facts: ModuleFacts, calls: Set[int]) -> bool:
    """Whether a way to a seed leads through one of these calls, and the function that is called seeds in any case."""
    for inner, outer in pairwise(way):
        if inner.path:
            return False
        if outer.facts is facts and outer.site in calls:
            return True
    return False
