"""Seeds that are given back: `np.random.seed(10101)`, `np.random.shuffle(lines)`, `np.random.seed(None)`.

The number keeps what is drawn in between, and the seed from the system after it lets all other draws differ again, as
they did before. Neither says that the run is to be repeated, and the second takes no seed from the run.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import is_none_literal, walk
from torchrepro_lint.program.evaluation.conditions import is_none
from torchrepro_lint.program.running.blocks import expressions_in
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import block_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.switches.intent import Evidence

__all__ = ["is_given_back"]

#: Generators whose seed can be given back by a call without one.
_SEEDS: Final = frozenset({"numpy.random.seed", "random.seed"})
#: How many statements may stand between the two calls.
_BETWEEN: Final = 4


#: The seeding calls in the statements of a block, in order, each with the place of its statement in the block; and
#: these places by the sites of the calls.
_Seeds: TypeAlias = "tuple[tuple[tuple[int, Evidence], ...], dict[int, int]]"


def is_given_back(program: Program, one: Evidence) -> bool:
    """Whether a seeding call is the first or the last of such a pair, in one block, with no other seed beside them."""
    if one.name not in _SEEDS or not isinstance(one.node, tree.Call):
        return False
    parents = parents_of(program.ev, one.frame.facts)
    block = block_of(parents, one.frame.facts, parents.statement(one.node))
    none: _Seeds = ((), {})
    key = ("seeds-in", id(one.frame.facts), block[0].site if block else None)
    seeds, places = program.ev.remembered(key, lambda: _seeds_in(program, one, block), none)
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
        and given.name == taken.name
        and not _is_written_without_a_seed(given)
        and _is_without_a_seed(program, taken)
    )


def _seeds_in(program: Program, one: Evidence, block: tree.Block) -> _Seeds:
    sites = {two.site.number: two for two in program.evidence_in(one.site.path) if two.effect == "seed"}
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
