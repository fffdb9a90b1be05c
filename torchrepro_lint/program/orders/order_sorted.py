"""Whether a list on the way of an order is sorted in place, by whatever name or holder it is reached."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.core.objects import Objects
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Site,
)
from torchrepro_lint.program.orders.order_carriers import Carrier
from torchrepro_lint.program.orders.order_places import scope_around
from torchrepro_lint.program.orders.order_ties import leaves_ties
from torchrepro_lint.program.running.call_index import NamedCall, calls_in
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_sorted", "is_sorted_on_the_way"]

_SORT: Final = "sort"
#: Methods that keep their argument, as it is, in what they are called on.
_STORING: Final = frozenset({"append", "appendleft", "insert", "setdefault", "update", "add"})


def is_sorted_on_the_way(program: Program, way: Sequence[Carrier], followed: Collection[Carrier]) -> bool:
    """Whether one of the lists that `way` passes through is sorted in place before it goes on from there.

    `way` is what was followed, from the source to what the order decides; `followed` is all that was followed from the
    same source, the way included. A list that a function gives is one for each of its calls.
    """
    made = {Site(one.facts.path, node.site): place for place, one in enumerate(way) if (node := _made(program, one))}
    if not made or not any(_has_another_name(program, one) for one in followed):
        return False
    marked = (_made(program, one) for one in followed)
    objects = Objects(program.ev, [node for node in marked if node is not None])
    for sort, receiver in _sorts(program, [one.facts.path for one in way]):
        program.ev.begin_question()
        for site in _objects(objects, sort, receiver) & made.keys():
            first = made[site]
            ends = min((place for place in made.values() if place > first), default=len(way))
            if _is_before(program, sort, way[first:ends]):
                return True
    return False


def _has_another_name(program: Program, carrier: Carrier) -> bool:
    """Whether a list gets another name, or a place in another object, where it is used."""
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(carrier.node)
    match above:
        case _ if not _is_a_list(carrier):
            return False
        case tree.Display() | tree.DictDisplay() | tree.Conditional() | tree.Boolean() | tree.Walrus() | tree.Yield():
            return True
        case tree.Assign(targets=targets):
            return not isinstance(carrier.node, tree.Call) or not all(isinstance(one, tree.Name) for one in targets)
        case tree.Arg():
            call = parents.of(above)
            if not isinstance(call, tree.Call):
                return True
            if isinstance(call.func, tree.Attribute) and call.func.attr in (_STORING | {_SORT}):
                return True
            frame = frame_without_callers(program.ev, carrier.facts, scope_around(program, carrier.facts, call))
            called = program.ev.values(call.func, frame)
            return any(isinstance(one, (FunctionValue, MethodValue, ClassValue, Partial, Instance)) for one in called)
    return False


def _is_a_list(carrier: Carrier) -> bool:
    return not (carrier.is_set or carrier.is_dict or carrier.rows or carrier.text)


def is_sorted(program: Program, made: Iterable[tree.Expr], facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether one of the lists that are `made` may be sorted in place before a use of it."""
    objects = Objects(program.ev, made)
    for sort, receiver in _sorts(program, [facts.path]):
        if sort.scope is scope and sort.call.site > site:
            continue
        program.ev.begin_question()
        if _objects(objects, sort, receiver) or program.ev.exhausted:
            return True
    return False


def _made(program: Program, carrier: Carrier) -> tree.Expr | None:
    """The expression that makes the object which a carrier is; None for another name of an object."""
    node = carrier.node
    if not _is_a_list(carrier):
        return None
    if isinstance(node, tree.Name):  # a list that a loop fills
        node = scope_around(program, carrier.facts, node).behind(node)
        return node if isinstance(node, tree.Display) and not node.items else None
    match node:
        case tree.Call() | tree.Comprehension() | tree.Display() | tree.Binary():
            return node
        case tree.Subscript(index=tree.Opaque()):  # a slice
            return node
    return None


def _sorts(program: Program, homes: Sequence[Path]) -> Iterator[tuple[NamedCall, tree.Expr]]:
    """The calls `x.sort()` that leave no element where it was, with `x`: in some files first, then in those of the same
    programs.
    """
    own = dict.fromkeys(homes)
    together = frozenset[Path]().union(*map(program.imports.together, own))
    others = sorted((set(program.project.containing(_SORT)) & together) - own.keys())
    for path in (*own, *others):
        facts = program.project.facts(path)
        for one in calls_in(program.ev, facts, _SORT) if facts is not None else ():
            receiver = _receiver(one.call)
            if receiver is not None and not leaves_ties(program, one.facts, one.scope, one.call):
                yield one, receiver


def _objects(objects: Objects, sort: NamedCall, receiver: tree.Expr) -> frozenset[Site]:
    """The places of the objects that a call may sort, from any of its callers."""
    return frozenset[Site]().union(*objects.of_any_caller(receiver, sort.facts, sort.scope))


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
