"""Parts of a notebook that are over before another part of it seeds: what they draw is not what the seed is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_over_before"]


def is_over_before(program: Program, drawn: Event, seed: Event) -> bool:
    """Whether what a cell of a notebook draws, or makes of it, has a name that no cell reads from the seed on: another
    model has the name by then, or nothing has. From the seed on is from the cell that seeds, or that calls what seeds.
    False outside of notebooks, and where what is drawn is kept otherwise.
    """
    early, late = _in_a_cell(program, drawn), _in_a_cell(program, seed)
    if early is None or late is None or early.site.path != late.site.path:
        return False
    call = early.scope.call_at(early.site.number)
    if call is None:
        return False
    names = _given_to(parents_of(program.ev, early.facts), call)
    return names is not None and not any(_is_read_from(program, early, name, late.site.number) for name in names)


def _in_a_cell(program: Program, event: Event) -> Place | None:
    """The outermost place at which something is done: None if that is not the top of a notebook's cell."""
    for site in (*(link.site for link in event.chain), event.site):
        place = place_of(program.ev, site)
        if place is not None and place.scope.parent is None:
            return place if program.places.row(site)[0] is not None else None
    return None


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


def _is_read_from(program: Program, early: Place, name: str, seed: int) -> bool:
    """Whether a name of the cells is read below the seed, before it gets another value, or in a function, which may run
    then.
    """
    parents = parents_of(program.ev, early.facts)
    uses = sorted(parents.names.get(name, ()), key=lambda use: use.site)
    if any(parents.function(use) is not None and _reads_the_cells(program, early, use) for use in uses):
        return True
    own = (use for use in uses if parents.function(use) is None)
    first = next((use for use in own if use.site > seed), None)
    return first is not None and not parents.is_bound(first)


def _reads_the_cells(program: Program, early: Place, use: tree.Name) -> bool:
    """Whether a function reads the name of the cells, and not one of its own."""
    place = place_of(program.ev, Site(early.site.path, use.site))
    binder = place.scope.binder(use.id) if place is not None else None
    return (binder is None or binder.parent is None) and not parents_of(program.ev, early.facts).is_bound(use)
