"""Lists that are filled side by side, or made one of the other: a position in one is only asked for what stands there
in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.ordering.order_places import name_uses, scope_around
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.ordering.order_carriers import Carrier
    from torchrepro_lint.program.program import Program

__all__ = ["looks_up_beside"]

#: Methods of a list that move its elements to other positions, or put some in or out.
_CHANGES: Final = frozenset({"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"})


def looks_up_beside(program: Program, carrier: Carrier, position: tree.Call, listed: tree.Expr) -> bool:
    """Whether a position in a list serves alone to look up what belongs to the element: `paths[names.index(name)]`,
    where one loop fills both lists, or one is made of the other.
    """
    parents = parents_of(program.ev, carrier.facts)
    places: list[Node] = [position]
    match parents.of(position):
        case tree.Assign(targets=(tree.Name() as name,)):
            places = [use for use in name_uses(program, carrier.facts, name) if not parents.is_bound(use)]
    scope = scope_around(program, carrier.facts, position)
    return bool(places) and all(_is_index_beside(parents, scope, place, listed) for place in places)


def _is_index_beside(parents: Parents, scope: Scope, place: Node, listed: tree.Expr) -> bool:
    match parents.of(place):
        case tree.Subscript(value=other, index=index) if index is place:
            filled = _filling_loops(parents, listed)
            if filled:
                return _filling_loops(parents, other) == filled
            source = _source(scope, listed)
            return source is not None and source == _source(scope, other)
    return False


def _source(scope: Scope, listed: tree.Expr) -> str | None:
    """The name of the list whose order another one has, as it is made of each of its elements, or its own name; None
    where one of them is changed afterwards.
    """
    names = [dotted_name(listed)]
    match scope.behind(listed):
        case tree.Comprehension(kind="list", clauses=(tree.Clause(iter=source, conditions=()),)):
            names.append(dotted_name(source))
    changed = any(touch.method in _CHANGES for name in names if name for touch in scope.touches(name))
    return None if changed else names[-1]


def _filling_loops(parents: Parents, listed: tree.Expr) -> frozenset[int]:
    """The innermost loops around the calls that add to the list of that name."""
    found: set[int] = set()
    for use in parents.names.get(listed.id, ()) if isinstance(listed, tree.Name) else ():
        above = parents.of(use)
        if isinstance(above, tree.Attribute) and above.attr in method_words("list_fills"):
            loop = next((one for one in parents.around(use) if isinstance(one, (tree.For, tree.While))), None)
            found.add(loop.site if loop is not None else -1)
    return frozenset(found)
