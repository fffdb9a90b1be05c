"""Lists that are filled side by side: a position in one of them is only asked for what stands at it in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.ordering.order_places import name_uses
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.ordering.order_carriers import Carrier
    from torchrepro_lint.program.program import Program

__all__ = ["looks_up_beside"]


def looks_up_beside(program: Program, carrier: Carrier, position: tree.Call, listed: tree.Expr) -> bool:
    """Whether a position in a list serves alone to look up what was added along with the element:
    `paths[names.index(name)]`, where one loop fills both lists.
    """
    parents = parents_of(program.ev, carrier.facts)
    filled = _filling_loops(parents, listed)
    if not filled:
        return False
    places: list[Node] = [position]
    match parents.of(position):
        case tree.Assign(targets=(tree.Name() as name,)):
            places = [use for use in name_uses(program, carrier.facts, name) if not parents.is_bound(use)]
    return bool(places) and all(_is_index_beside(parents, place, filled) for place in places)


def _is_index_beside(parents: Parents, place: Node, filled: frozenset[int]) -> bool:
    match parents.of(place):
        case tree.Subscript(value=other, index=index) if index is place:
            return _filling_loops(parents, other) == filled
    return False


def _filling_loops(parents: Parents, listed: tree.Expr) -> frozenset[int]:
    """The innermost loops around the calls that add to the list of that name."""
    found: set[int] = set()
    for use in parents.names.get(listed.id, ()) if isinstance(listed, tree.Name) else ():
        above = parents.of(use)
        if isinstance(above, tree.Attribute) and above.attr in method_words("list_fills"):
            loop = next((one for one in parents.around(use) if isinstance(one, (tree.For, tree.While))), None)
            found.add(loop.site if loop is not None else -1)
    return frozenset(found)
