"""Where the ways to two events part, and whether the run reaches the one before it comes to the other, or once
more after that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.calls_at import called_at
from torchrepro_lint.program.running.events import Event
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_tried_before", "one_comes_before"]


def one_comes_before(program: Program, early: Iterable[Event], late: Event) -> bool:
    """Whether, where the ways to them and to the late event part, one of the early ones runs wherever that does."""
    by_scope: dict[int, tuple[Scope, list[ArmPath]]] = {}
    for event in early:
        parting = _parting(program, event, late)
        if parting is not None:
            scope, path = parting
            by_scope.setdefault(id(scope), (scope, []))[1].append(path)
    return any(_covered(scope, paths) for scope, paths in by_scope.values())


def _parting(program: Program, early: Event, late: Event) -> tuple[Scope, ArmPath] | None:
    """The scope in which the two ways part, and the arms there that the early one needs and the late one does not."""
    for first, second in zip(early.sites, late.sites, strict=False):
        if first == second:
            continue
        if first.path != second.path or first.number > second.number:
            return None
        facts = program.facts(first.path)
        if facts is None or _are_alternatives(facts, first, second):
            return None
        scope = _scope_of(program, facts, first, second)
        if scope is None:
            return None
        own = set(scope.path_at(second.number))
        needed = (arm for arm in scope.path_at(first.number) if arm not in own)
        return scope, tuple(arm for arm in needed if arm[1] != "try" and arm[0] not in scope.loops)
    return None


def _are_alternatives(facts: ModuleFacts, first: Site, second: Site) -> bool:
    """Whether the ways part at two functions that one call may mean: `COMMANDS[name]()` enters one of them."""
    functions = {scope.node.site for scope in facts.walk_scopes() if isinstance(scope.node, tree.FunctionDef)}
    return {first.number, second.number} <= functions


def _covered(scope: Scope, paths: list[ArmPath]) -> bool:
    """Whether one of the paths is surely taken: each arm of an `if` has one, or ends the function."""
    if any(not path for path in paths):
        return True
    for branch in {path[0][0] for path in paths}:
        statement = scope.branches.get(branch)
        if isinstance(statement, tree.If):
            arms = (("then", statement.body), ("else", statement.orelse))
            if all(_ends(block) or _covered(scope, _within(paths, (branch, name))) for name, block in arms):
                return True
    return False


def _within(paths: list[ArmPath], arm: tuple[int, str]) -> list[ArmPath]:
    """The paths that begin with an arm, from there on inwards."""
    return [path[1:] for path in paths if path[0] == arm]


def _ends(block: tree.Block) -> bool:
    return bool(block) and isinstance(block[-1], (tree.Raise, tree.Return))


def _scope_of(program: Program, facts: ModuleFacts, first: Site, second: Site) -> Scope | None:
    """The scope in which both places are: the module for two imports or calls there, else a function of calls, and of
    the reads of properties.
    """
    for scope in facts.walk_scopes():
        numbers = {call.site for call, _ in scope.calls}
        if scope.parent is None:
            numbers |= set(scope.statement_sites)
        places = [first.number in numbers, second.number in numbers]
        if all(places):
            return scope
        if any(places) and {first.number, second.number} <= numbers | _reads_in(program, facts, scope):
            return scope
    return None


def _reads_in(program: Program, facts: ModuleFacts, scope: Scope) -> set[int]:
    """The sites of what is read as an attribute in a scope."""
    parents = parents_of(program.ev, facts)
    return {
        read.site for reads in parents.attributes.values() for read in reads if parents.function(read) is scope.node
    }


def is_tried_before(program: Program, early: Event, late: Event) -> bool:
    """Whether the call that leads to the early event is made once more after the late one, with another switch, and
    only that run counts: `main(debug=True)`, `set_seed(0)`, `main(debug=False)`. The first gives nothing that is kept.
    """
    parted = ((one, other) for one, other in zip(early.sites, late.sites, strict=False) if one != other)
    first, second = next(parted, (early.site, late.site))
    place = place_of(program.ev, first)
    call = called_at(place) if place is not None and first.path == second.path else None
    if place is None or call is None or not isinstance(parents_of(program.ev, place.facts).of(call), tree.ExprStmt):
        return False
    arms = set(place.scope.path_at(second.number))
    return any(
        other.site > second.number and arms.issuperset(path) and _differ_by_a_switch(call, other)
        for other, path in place.scope.calls
    )


def _differ_by_a_switch(call: tree.Call, other: tree.Call) -> bool:
    """Whether two calls of one function have the same arguments but for True or False."""
    if dotted_name(call.func) is None or dotted_name(call.func) != dotted_name(other.func):
        return False
    given, given_there = (
        [(arg.keyword, _written(arg.value)) for arg in one.args if _is_a_switch(arg)] for one in (call, other)
    )
    rest, rest_there = (
        [(arg.keyword, arg.star, _written(arg.value)) for arg in one.args if not _is_a_switch(arg)]
        for one in (call, other)
    )
    return given != given_there and rest == rest_there and all(written is not None for *_, written in rest)


def _is_a_switch(arg: tree.Arg) -> bool:
    return isinstance(arg.value, tree.Const) and isinstance(arg.value.value, bool)


def _written(node: tree.Expr) -> str | None:
    return repr(node.value) if isinstance(node, tree.Const) else dotted_name(node)
