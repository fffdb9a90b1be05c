"""Seeds that are given back: `np.random.seed(10101)`, `np.random.shuffle(lines)`, `np.random.seed(None)`.

The number keeps what is drawn in between, and the seed from the system after it lets all other draws differ again, as
they did before. Neither says that the run is to be repeated, and the second takes no seed from the run. The second may
also stand below the call of the function that holds the first: `order = class_order(seed)`, `np.random.seed(None)`.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import is_none_literal, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.conditions import is_none
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.running.blocks import expressions_in
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import block_of

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["is_given_back"]

#: The seeding calls whose seed can be given back by a call without one, each with that call.
_GIVEN_BACK_BY: Final = {
    "numpy.random.seed": "numpy.random.seed",
    "random.seed": "random.seed",
    "torch.manual_seed": "torch.seed",
}
#: How many statements may stand between the two calls.
_BETWEEN: Final = 4


#: The seeding calls in the statements of a block, in order, each with the place of its statement in the block; and
#: these places by the sites of the calls.
_Seeds: TypeAlias = "tuple[tuple[tuple[int, Evidence], ...], dict[int, int]]"


def is_given_back(program: Program, one: Evidence) -> bool:
    """Whether a seeding call is the first or the last of such a pair, with no other seed beside them."""
    if not isinstance(one.node, tree.Call):
        return False
    if one.name in _GIVEN_BACK_BY and not _is_written_without_a_seed(one):
        return _is_given_back_beside(program, one) or _is_given_back_by_callers(program, one)
    return one.name in _GIVEN_BACK_BY.values() and (
        _is_given_back_beside(program, one) or _gives_back_what_a_call_seeds(program, one)
    )


def _is_given_back_by_callers(program: Program, one: Evidence) -> bool:
    """Whether each call of the function that seeds is followed by the call that gives the seed back."""
    places = ways_of(program, one)
    return bool(places) and all(
        len(way) > 1
        and (call := way[1].scope.call_at(way[1].site)) is not None
        and (taken := _first_below(program, way[1].facts, call)) is not None
        and taken.name == _GIVEN_BACK_BY[one.name]
        and _is_without_a_seed(program, taken)
        for way in places
    )


def _gives_back_what_a_call_seeds(program: Program, taken: Evidence) -> bool:
    """Whether a call gives back the seed that a function sets which is called above it."""
    return _is_without_a_seed(program, taken) and any(
        _GIVEN_BACK_BY.get(one.name) == taken.name
        and not _is_written_without_a_seed(one)
        and any(
            len(way) > 1
            and way[1].scope is taken.frame.scope
            and (call := way[1].scope.call_at(way[1].site)) is not None
            and _first_below(program, way[1].facts, call) is taken
            for way in ways_of(program, one)
        )
        for one in program.evidence_of("seed")
    )


def _first_below(program: Program, facts: ModuleFacts, call: tree.Call) -> Evidence | None:
    """The first seeding call in the statements right below that of a call."""
    parents = parents_of(program.ev, facts)
    statement = parents.statement(call)
    block = block_of(parents, facts, statement)
    here = next(at for at, other in enumerate(block) if other is statement)
    seeds, _ = _known_in(program, facts, block)
    return next((two for at, two in seeds if here < at <= here + _BETWEEN + 1), None)


def _is_given_back_beside(program: Program, one: Evidence) -> bool:
    """Whether both calls are in one block."""
    parents = parents_of(program.ev, one.frame.facts)
    block = block_of(parents, one.frame.facts, parents.statement(one.node))
    seeds, places = _known_in(program, one.frame.facts, block)
    here = places.get(one.site.number)
    if here is None:
        return False
    start = bisect_left(seeds, here - _BETWEEN - 2, key=lambda two: two[0])
    near = list(takewhile(lambda two: two[0] <= here + _BETWEEN + 2, seeds[start : start + 3]))
    if len(near) != 2:
        return False
    (first, given), (last, taken) = near
    return (
        1 < last - first <= _BETWEEN + 1
        and _GIVEN_BACK_BY.get(given.name) == taken.name
        and not _is_written_without_a_seed(given)
        and _is_without_a_seed(program, taken)
    )


def _known_in(program: Program, facts: ModuleFacts, block: tree.Block) -> _Seeds:
    none: _Seeds = ((), {})
    key = ("seeds-in", id(facts), block[0].site if block else None)
    return program.ev.remembered(key, lambda: _seeds_in(program, facts, block), none)


def _seeds_in(program: Program, facts: ModuleFacts, block: tree.Block) -> _Seeds:
    sites = {two.site.number: two for two in program.evidence_in(facts.path) if two.effect == "seed"}
    seeds = tuple(
        (at, sites[node.site])
        for at, statement in enumerate(block)
        for node in walk(list(expressions_in((statement,))))
        if node.site in sites
    )
    return seeds, {two.site.number: at for at, two in seeds}


def _is_written_without_a_seed(one: Evidence) -> bool:
    """Whether a call has no seed, or None; what a parameter defaults to is for its callers."""
    return one.value is None or is_none_literal(one.value)


def _is_without_a_seed(program: Program, one: Evidence) -> bool:
    if one.value is None:
        return True
    values = program.ev.values(one.value, one.frame)
    return bool(values) and all(is_none(value) is True for value in values)
