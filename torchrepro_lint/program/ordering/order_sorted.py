"""Whether a list on the way of an order is sorted in place, by whatever name or holder it is reached."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.marked import MarkedEvaluator
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ordering.order_carriers import Carrier
from torchrepro_lint.program.ordering.order_places import scope_around
from torchrepro_lint.program.ordering.order_ties import leaves_ties
from torchrepro_lint.program.running.call_index import NamedCall, calls_in
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_sorted", "is_sorted_on_the_way"]

_SORT: Final = "sort"


def is_sorted_on_the_way(program: Program, way: Sequence[Carrier], others: Collection[Carrier]) -> bool:
    """Whether one of the lists that `way` passes through is sorted in place before it goes on from there.

    `way` is what was followed, from the source to what the order decides; `others` is whatever else was followed from
    the same source. A list that a function gives is one for each of its calls.
    """
    made = {Site(one.facts.path, node.site): place for place, one in enumerate(way) if (node := _made(program, one))}
    if not made:
        return False
    marked = (_made(program, one) for one in (*way, *others))
    ev = MarkedEvaluator(program.project, [node for node in marked if node is not None])
    for sort in _sorts(program, way[0].facts):
        receiver = _receiver(sort.call)
        if receiver is None or leaves_ties(program, sort.facts, sort.scope, sort.call):
            continue
        ev.begin_question()
        frames = ev.contexts(sort.facts, sort.scope)
        for site in frozenset[Site]().union(*(ev.objects(receiver, frame) for frame in frames)) & made.keys():
            first = made[site]
            ends = min((place for place in made.values() if place > first), default=len(way))
            if _is_before(program, sort, way[first:ends]):
                return True
    return False


def is_sorted(program: Program, ev: MarkedEvaluator, made: Collection[Site], before: NamedCall) -> bool:
    """Whether one of the lists that are `made` may be sorted in place before a call."""
    for sort in _sorts(program, before.facts):
        receiver = _receiver(sort.call)
        if receiver is None or leaves_ties(program, sort.facts, sort.scope, sort.call):
            continue
        if sort.scope is before.scope and sort.call.site > before.call.site:
            continue
        ev.begin_question()
        frames = ev.contexts(sort.facts, sort.scope)
        if any(ev.objects(receiver, frame) & frozenset(made) for frame in frames) or ev.exhausted:
            return True
    return False


def _made(program: Program, carrier: Carrier) -> tree.Expr | None:
    """The expression that makes the object which a carrier is; None for another name of an object."""
    node = carrier.node
    if isinstance(node, tree.Name):  # a list that a loop fills
        node = scope_around(program, carrier.facts, node).behind(node)
        return node if isinstance(node, tree.Display) and not node.items else None
    match node:
        case tree.Call() | tree.Comprehension() | tree.Display() | tree.Binary():
            return node
        case tree.Subscript(index=tree.Opaque()):  # a slice
            return node
    return None


def _sorts(program: Program, home: ModuleFacts) -> Iterator[NamedCall]:
    """The calls `x.sort()` in the files that one program can have together with a file."""
    together = program.imports.together(home.path) | {home.path}
    for path in sorted(set(program.project.containing(_SORT)) & together):
        facts = program.project.facts(path)
        if facts is not None:
            yield from calls_in(program.ev, facts, _SORT)


def _receiver(call: tree.Call) -> tree.Expr | None:
    """What a call `x.sort()` or `list.sort(x)` sorts."""
    match call:
        case tree.Call(func=tree.Attribute(value=tree.Name(id="list")), args=(first, *_)):
            return first.value
        case tree.Call(func=tree.Attribute(value=receiver)):
            return receiver
    return None


def _is_before(program: Program, sort: NamedCall, way: Sequence[Carrier]) -> bool:
    """Whether a list may be sorted before the order goes on from the function that makes it, where `way` are the uses
    of the list. Where an object holds the list, or another function sorts it that this one is not seen to call: at any
    time.
    """
    if any(isinstance(one.node, tree.Attribute) or _is_given_to_an_object(program, one) for one in way):
        return True
    home = scope_around(program, way[0].facts, way[0].node)
    last = max(one.node.site for one in way if scope_around(program, one.facts, one.node) is home)
    if sort.scope is home:
        return sort.call.site < last
    if not isinstance(sort.scope.node, tree.FunctionDef):
        return True
    places = calling_places(program.ev, sort.facts, sort.scope, reached=False)
    calls = [one.call.site for one in places if one.scope is home]
    return not calls or min(calls) < last


def _is_given_to_an_object(program: Program, carrier: Carrier) -> bool:
    above = parents_of(program.ev, carrier.facts).of(carrier.node)
    return isinstance(above, tree.Assign) and any(isinstance(target, tree.Attribute) for target in above.targets)
