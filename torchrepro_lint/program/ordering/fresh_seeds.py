"""Splits right after a call that seeds torch: nothing that the program draws elsewhere can move them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile
from operator import is_not
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.calls import known_calls, known_packages
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    External,
    ExternalObject,
    FunctionValue,
    MemberOf,
    Site,
    Value,
)
from torchrepro_lint.program.ordering.generators import GENERATOR
from torchrepro_lint.program.running.blocks import expressions_in
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import block_of
from torchrepro_lint.program.running.ways import MAX_WAYS, Way, Waypoint, ways

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["is_seeded_for", "is_seeded_for_its_callers"]

#: What may draw from torch's generator: its functions, layers and their first weights, loaders and samplers.
_DRAWS: Final = re.compile(
    rb"\b(?:torch|th)\.(?:rand|normal|bernoulli|multinomial|poisson|seed|manual_seed|nn|empty|Tensor)|\bnn\b|\binit\."
    rb"|[rR]andom_?(?:split|perm|sampler)|randperm|DataLoader|Sampler|\.(?:normal|uniform|exponential|random|bernoulli)_\("
)
#: Functions that surely draw nothing; the sizes of the parts are computed with them.
_QUIET = frozenset(
    {"int", "float", "round", "len", "sum", "min", "max", "range", "list", "print", "dict", "tuple", "str"}
)
#: How deep functions of the project are followed that may draw nothing.
_MAX_DEPTH: Final = 3


def is_seeded_for(program: Program, call: KnownCall) -> bool:
    """Whether torch is seeded just before the call: in its block, or above the `if` that it is in, with nothing between
    that might draw.
    """
    seeding = next(_behind_what_is_quiet(program, call), None)
    if not isinstance(seeding, tree.ExprStmt) or not isinstance(seeding.value, tree.Call):
        return False
    sites = {node.site for node in walk([seeding.value])}
    called = [value for value in program.ev.values(seeding.value.func, call.frame) if isinstance(value, FunctionValue)]
    own = {id(program.ev.function_scope(function)) for function in called}
    if any(_seeds_torch(one) and id(one.frame.scope) in own for one in program.evidence_of("seed")):
        return True  # seen from there, a function that is called in many places does not lead to all of them
    return any(
        waypoint.scope is call.scope and waypoint.site in sites
        for one in program.evidence_in_programs_of(call.frame)
        if _seeds_torch(one)
        for way in ways(program.ev, one.frame.facts, one.frame.scope, one.site.number)
        for waypoint in way
    )


def is_seeded_for_its_callers(program: Program, call: KnownCall) -> bool:
    """Whether on each way to the call some function is called right after torch is seeded, as far as the block there
    shows, and nothing that it runs before the call draws from torch, but for the function of the call itself.
    """
    leading = ways(program.ev, call.facts, call.scope, call.site.number)
    return 0 < len(leading) <= MAX_WAYS and all(_is_seeded_on(program, call, way) for way in leading)


def _is_seeded_on(program: Program, call: KnownCall, way: Way) -> bool:
    for index, waypoint in enumerate(way[1:], start=1):
        outer = waypoint.scope.call_at(waypoint.site)
        if outer is None or (index > 1 and _draws_before(program, way[index - 1])):
            return False
        frame = frame_without_callers(program.ev, waypoint.facts, waypoint.scope)
        if is_seeded_for(program, replace(call, call=outer, frame=frame)):
            return True
    return False


def _draws_before(program: Program, waypoint: Waypoint) -> bool:
    """Whether a function may draw from torch before it comes to a place in it."""
    frame = frame_without_callers(program.ev, waypoint.facts, waypoint.scope)
    arms = dict(waypoint.path)
    for call, path in waypoint.scope.calls:
        if call.site >= waypoint.site or any(arms.get(branch, arm) != arm for branch, arm in path):
            continue
        events = program.walker.calling(program.ev.values(call.func, frame), None, Site(waypoint.facts.path, call.site))
        if any(effect.rng == "torch" for event in events for effect in rng_effects(event.name)):
            return True
    return False


def _seeds_torch(one: Evidence) -> bool:
    return one.effect == "seed" and "torch" in one.seeds


def _behind_what_is_quiet(program: Program, call: KnownCall) -> Iterator[tree.Stmt]:
    """The statements of the block above the call, and above each `if` around it, the nearest first, without those that
    surely draw nothing.
    """
    parents = parents_of(program.ev, call.facts)
    statement = parents.statement(call.call)
    while True:
        above = list(takewhile(partial(is_not, statement), block_of(parents, call.facts, statement)))
        yield from (one for one in reversed(above) if not _is_quiet(program, call, one))
        outer = parents.of(statement)
        if not isinstance(outer, tree.If) or not _are_quiet(program, call, [outer.test]):
            return
        statement = outer


def _is_quiet(program: Program, call: KnownCall, statement: tree.Stmt) -> bool:
    if not isinstance(statement, (tree.Assign, tree.ExprStmt)):
        return False
    return _are_quiet(program, call, list(expressions_in((statement,))))


def _are_quiet(program: Program, call: KnownCall, expressions: list[tree.Expr]) -> bool:
    return all(
        _calls_nothing_that_draws(program, call, node) for node in walk(expressions) if isinstance(node, tree.Call)
    )


def _calls_nothing_that_draws(program: Program, call: KnownCall, node: tree.Call, depth: int = 0) -> bool:
    if isinstance(node.func, tree.Name) and node.func.id in _QUIET:
        return True
    if _is_of_a_generator(program, call, node) or _names_no_draw(program, call, node):
        return True
    return depth < _MAX_DEPTH and _is_quiet_within(program, call, node, depth)


def _is_quiet_within(program: Program, call: KnownCall, node: tree.Call, depth: int) -> bool:
    """Whether a call is one of plain functions of the project that surely draw nothing, whatever they are given."""
    values = program.ev.values(node.func, call.frame)
    for function in values:
        if not isinstance(function, FunctionValue) or not isinstance(function.node, tree.FunctionDef):
            return False
        scope = program.ev.function_scope(function)
        if function.node.decorators or scope.children:
            return False
        inner = replace(call, frame=frame_without_callers(program.ev, function.frame.facts, scope))
        if not all(_calls_nothing_that_draws(program, inner, one, depth + 1) for one, _ in scope.calls):
            return False
    return bool(values)


def _is_of_a_generator(program: Program, call: KnownCall, node: tree.Call) -> bool:
    """Whether a generator is made, or one that is not a global one is seeded, or something is called that draws nothing
    from torch.
    """
    values = program.ev.values(node.func, call.frame)
    return bool(values) and all(_makes_or_seeds(value) or _is_apart_from_torch(value) for value in values)


def _is_apart_from_torch(value: Value) -> bool:
    if not isinstance(value, External):
        return False
    package = value.name.partition(".")[0]
    return (
        value.name in known_calls("draws_nothing_of_torch")
        or package in known_packages("knows_nothing_of_torch")
        or (package in sys.stdlib_module_names and package not in known_packages("calls_what_it_is_given"))
    )


def _names_no_draw(program: Program, call: KnownCall, node: tree.Call) -> bool:
    """Whether a method that seeds calls what is the project's own, such as the class of a data set, and neither that
    file nor those that it imports name anything by which torch draws: the seed of an object is for what it makes.
    """
    if call.scope.self_name is None:
        return False
    values = program.ev.values(node.func, call.frame)
    if not values or not all(isinstance(value, (ClassValue, FunctionValue)) for value in values):
        return False
    homes = frozenset(value.frame.facts.path for value in values if isinstance(value, (ClassValue, FunctionValue)))
    files = program.imports.with_imports(homes)
    return not any(program.project.holds(file, _DRAWS) for file in program.imports.ordered(files))


def _makes_or_seeds(value: Value) -> bool:
    match value:
        case External(name=name):
            return name == GENERATOR
        case MemberOf(receiver=ExternalObject(name=name), attr="manual_seed"):
            return name == GENERATOR
    return False
