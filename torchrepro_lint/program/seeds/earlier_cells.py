"""Parts of a notebook that are over before another part of it seeds: what they draw is not what the seed is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_over_before"]


def is_over_before(program: Program, drawn: Event, seed: Site) -> bool:
    """Whether what a cell of a notebook draws, or makes of it, has a name that no cell reads from the seed on: another
    model has the name by then, or nothing has. False outside of notebooks, and where what is drawn is kept otherwise.
    """
    cell, _ = program.places.row(seed)
    sites = (drawn.site, *(link.site for link in drawn.chain))
    if cell is None or any(site.path != seed.path for site in sites):
        return False
    places = (place_of(program.ev, site) for site in sites)
    place = next((one for one in places if one is not None and one.scope.parent is None), None)
    call = place.scope.call_at(place.site.number) if place is not None else None
    if place is None or call is None:
        return False
    parents = parents_of(program.ev, place.facts)
    names = _given_to(parents, call)
    return names is not None and not any(_is_read_from(parents, name, seed.number) for name in names)


def _given_to(parents: Parents, call: tree.Call) -> frozenset[str] | None:
    """The names that the statement around a call binds: none where the result is only shown. None where it is stored
    elsewhere.
    """
    match parents.statement(call):
        case tree.ExprStmt():
            return frozenset()
        case tree.Assign(targets=targets):
            bound = [node for target in targets for node in walk([target])]
            if any(isinstance(node, tree.Attribute | tree.Subscript) for node in bound):
                return None
            return frozenset(node.id for node in bound if isinstance(node, tree.Name))
    return None


def _is_read_from(parents: Parents, name: str, seed: int) -> bool:
    """Whether a name is read below the seed, before it gets another value, or in a function, which may run then."""
    uses = sorted(parents.names.get(name, ()), key=lambda use: use.site)
    if any(parents.function(use) is not None and not parents.is_bound(use) for use in uses):
        return True
    first = next((use for use in uses if use.site > seed), None)
    return first is not None and not parents.is_bound(first)
