"""Lists that are filled side by side, or made one of the other: a position in one is only asked for what stands there
in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import conjuncts, dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.orders.order_places import name_uses, scope_around
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.orders.order_carriers import Carrier
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
            return not _sources(scope, listed).isdisjoint(_sources(scope, other))
    return False


def _sources(scope: Scope, listed: tree.Expr) -> frozenset[str]:
    """The name of a list, and those of the lists whose order it has, as it is made of each of their elements; none
    where one of them is changed afterwards.
    """
    names: dict[str, None] = {}
    at: tree.Expr | None = listed
    while at is not None and (name := dotted_name(at)) is not None and name not in names:
        names[name] = None
        match scope.behind(at):
            case tree.Comprehension(kind="list", clauses=(clause,)) if _leaves_none_out(scope, clause):
                at = clause.iter
            case _:
                at = None
    changed = any(touch.method in _CHANGES for name in names for touch in scope.touches(name))
    return frozenset() if changed else frozenset(names)


def _leaves_none_out(scope: Scope, clause: tree.Clause) -> bool:
    """Whether a comprehension takes each element of a list: the list was made with what it asks for."""
    asked = [part for one in clause.conditions for part in conjuncts(one)]
    match clause.target, scope.behind(clause.iter):
        case tree.Name(id=name), tree.Comprehension(clauses=(tree.Clause(target=tree.Name(id=before)) as made,)):
            known = [part for one in made.conditions for part in conjuncts(one)]
            return all(any(_ask_the_same(one, name, other, before) for other in known) for one in asked)
    return not asked


def _ask_the_same(one: object, name: str, other: object, before: str) -> bool:
    """Whether two conditions ask the same, the one of what is called `name`, the other of what is called `before`."""
    if type(one) is not type(other):
        return False
    match one, other:
        case tree.Name(id=first), tree.Name(id=second):
            return first == name and second == before if first == name or second == before else first == second
        case tuple(), tuple():
            return len(one) == len(other) and all(
                _ask_the_same(part, name, its, before) for part, its in zip(one, other, strict=True)
            )
    slots = [slot for slot in getattr(type(one), "__slots__", ()) if slot != "site"]
    if not slots:
        return one == other
    return all(_ask_the_same(getattr(one, slot), name, getattr(other, slot), before) for slot in slots)


def _filling_loops(parents: Parents, listed: tree.Expr) -> frozenset[int]:
    """The innermost loops around the calls that add to the list of that name."""
    found: set[int] = set()
    for use in parents.names.get(listed.id, ()) if isinstance(listed, tree.Name) else ():
        above = parents.of(use)
        if isinstance(above, tree.Attribute) and above.attr in method_words("list_fills"):
            loop = next((one for one in parents.around(use) if isinstance(one, (tree.For, tree.While))), None)
            found.add(loop.site if loop is not None else -1)
    return frozenset(found)
