"""Where the order of a listing or a set ends up: in a dataset's samples, a split, an index of classes, or nowhere.

An expression whose elements come in an order that is not fixed is followed forward: through names, attributes of
`self`, lists filled in a loop over it, parameters and return values. Sorting it, counting it, or testing for membership
ends the search. There is a result only if the order decides something.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ordering import (
    order_calls,
    order_iterators,
    order_lookups,
    order_loops,
    order_nested,
    order_rows,
)
from torchrepro_lint.program.ordering.order_held import holder_attribute_uses, holder_uses, item_of
from torchrepro_lint.program.ordering.order_pieces import go_to_parts, is_called_a_part
from torchrepro_lint.program.ordering.order_places import (
    attribute_uses,
    calls_in_bases,
    decides_samples,
    is_property,
    is_target,
    iterates_samples,
    name_uses,
)
from torchrepro_lint.program.ordering.permutations import is_of_a_part, part_names
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.parents import Node, parents_of
from torchrepro_lint.program.running.reach import Link

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "Carrier",
    "Sink",
    "SinkKind",
    "find_sink",
    "find_sink_of_target",
    "sink",
    "stored",
    "through_held",
    "through_slice",
    "to_callers",
]

MAX_STEPS: Final = 120
MAX_HOPS: Final = 4
MAX_CALLS: Final = 6

SinkKind = Literal["samples", "split", "index"]
#: The file and the expression of a set that is iterated over: sorting it there gives an order to all that follows.
SetIteration: TypeAlias = tuple[ModuleFacts, tree.Expr]


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """An expression whose elements come in the order that is followed.

    Attributes:
        numbered: Each element comes with its position.
        is_set: Nothing has a position in it yet.
        is_dict: Its keys were inserted in this order; a look-up by key does not reveal the order.
        rows: It is a table whose rows come from what was in this order.
        part: It is a dict of such tables, and the one under this key is followed.
        iterated: Where a set was iterated over, unless that was in a function that the set was passed to, which may be
            called with lists as well.
        entered: The calls through which the search came into functions, each with the function and the file of the
            call: a function returns its result to the call that entered it, and to no other.
    """

    facts: ModuleFacts
    node: tree.Expr
    hops: int = 0
    numbered: bool = False
    is_set: bool = False
    is_dict: bool = False
    rows: bool = False
    part: str | None = None
    iterated: SetIteration | None = None
    chain: tuple[Link, ...] = ()
    entered: tuple[tuple[tree.FunctionDef, ModuleFacts, tree.Call], ...] = ()

    @property
    def key(self) -> tuple[int, bool, bool, bool, tuple[int, ...]]:
        """What distinguishes it from other carriers with the same expression."""
        return id(self.node), self.is_set, self.is_dict, self.rows, tuple(id(call) for _, _, call in self.entered)

    def to(self, node: tree.Expr, *, numbered: bool | None = None) -> Carrier:
        return replace(self, node=node, numbered=self.numbered if numbered is None else numbered)

    def listed(self, node: tree.Expr, *, numbered: bool | None = None) -> Carrier:
        """The same for a list, an iterator or an array with the elements."""
        return replace(self.to(node, numbered=numbered), is_set=False, is_dict=False, iterated=self.iterated_here)

    def as_keys(self) -> Carrier:
        """The same for a dict with the elements, or something derived from each, as its keys."""
        return replace(self, numbered=False, is_set=False, is_dict=True, iterated=self.iterated_here)

    @property
    def iterated_here(self) -> SetIteration | None:
        """What gives the elements their order, including a set that is iterated over here."""
        return (self.facts, self.node) if self.is_set and not self.entered else self.iterated

    def hop(self, facts: ModuleFacts, node: tree.Expr, at: Site, note: str) -> Carrier:
        chain = (*self.chain, Link(at, note))
        return replace(self, facts=facts, node=node, hops=self.hops + 1, numbered=False, chain=chain)


@dataclass(frozen=True, slots=True, eq=False)
class Sink:
    """Where the order decides something; the chain ends there.

    Nothing is decided if `beside` has the same order: then what is at the same position belongs together.
    """

    kind: SinkKind
    chain: tuple[Link, ...]
    beside: tree.Expr | None = None
    iterated: SetIteration | None = None


def find_sink(
    program: Program, facts: ModuleFacts, node: tree.Expr, *, of_set: bool = False, but: Collection[tree.Expr] = ()
) -> Sink | None:
    """The first place where the order of the elements of `node` decides something; None if there is none.

    `of_set`: it is a set, so a look-up by position in a list that is made from it counts as well. What passes through
    one of the expressions in `but` is left out.
    """
    return _follow(program, [Carrier(facts, node, is_set=of_set)], indexes=of_set, but={id(one) for one in but})


def find_sink_of_target(program: Program, facts: ModuleFacts, target: tree.Expr) -> Sink | None:
    """The same for the elements that a target of an assignment gets."""
    pending: list[Carrier] = []
    for found in stored(program, Carrier(facts, target), target):
        if isinstance(found, Sink):
            return found
        pending.append(found)
    return _follow(program, pending, indexes=False)


def _follow(program: Program, pending: list[Carrier], indexes: bool, but: Collection[int] = ()) -> Sink | None:
    seen: set[tuple[int, bool, bool, bool, tuple[int, ...]]] = set()
    unless: list[Sink] = []
    for _ in range(MAX_STEPS):
        if not pending:
            break
        carrier = pending.pop(0)
        if carrier.key in seen or carrier.hops > MAX_HOPS or id(carrier.node) in but:
            continue
        seen.add(carrier.key)
        for found in _next(program, carrier, indexes):
            if not isinstance(found, Sink):
                pending.append(found)
            elif found.beside is None:
                return found
            else:
                unless.append(found)
    nodes = {node for node, *_ in seen}
    return next((found for found in unless if id(found.beside) not in nodes), None)


def sink(carrier: Carrier, kind: SinkKind, at: Node, note: str) -> Sink:
    """The end of a search, at `at`."""
    chain = (*carrier.chain, Link(Site(carrier.facts.path, at.site), note))  # type: ignore[union-attr]
    return Sink(kind, chain, iterated=carrier.iterated_here)


def _next(program: Program, carrier: Carrier, indexes: bool) -> Iterator[Carrier | Sink]:
    node = carrier.node
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(node)
    match above:
        case tree.Arg():
            call = parents.of(above)
            if isinstance(call, tree.Call):
                yield from order_calls.through_call(program, carrier, call, above)
        case tree.Attribute() if carrier.rows:
            yield from order_rows.through_attribute(program, carrier, above)
        case tree.Attribute(attr=attr):
            yield from order_calls.through_method(program, carrier, above, attr)
        case tree.Subscript(value=value) if value is node and carrier.is_dict:
            return
        case tree.Subscript(value=value) if value is node and carrier.rows:
            yield from order_rows.through_item(program, carrier, above)
        case tree.Subscript(value=value) if value is node and not carrier.is_set:
            yield from _through_subscript(program, carrier, above, indexes)
        case tree.Assign(targets=targets):
            for target in targets:
                yield from stored(program, carrier, target)
        case tree.AugAssign(op=op, target=target, value=value) if value is node:
            if op != "-" or not carrier.is_set:  # a set that is taken away from another gives it nothing
                yield from stored(program, carrier, target)
        case tree.Walrus(target=target):
            yield carrier.to(above)
            yield from stored(program, carrier, target)
        case tree.Return() | tree.Yield():
            yield from to_callers(program, carrier, node)
        case tree.For(iter=iterated) if iterated is node and not order_rows.may_be_columns(carrier):
            yield from order_loops.through_loop(program, carrier, above)
        case tree.Clause(iter=iterated) if iterated is node and not order_rows.may_be_columns(carrier):
            yield from order_loops.through_comprehension(program, carrier, parents.of(above), above)
        case tree.DictDisplay() if not carrier.is_dict:
            yield from order_rows.through_dict(program, carrier, above)
            yield from _through_dict(program, carrier, above)
        case tree.Comprehension(element=element) if element is node and not carrier.is_dict:
            yield from order_nested.through_element(program, carrier, above)
        case tree.Starred():
            yield carrier.listed(above)
        case tree.Await():
            yield carrier.to(above)
        case tree.Display(kind="list" | "tuple") if isinstance(node, tree.Starred):
            yield carrier.to(above)
        case tree.Display(kind="tuple", items=items) if isinstance(parents.of(above), tree.Return):
            place = next(index for index, item in enumerate(items) if item is node)
            yield from to_callers(program, carrier, node, place)
        case tree.Display(kind="tuple"):
            assigned = parents.target_of(node)
            if assigned is not None:
                yield from stored(program, carrier, assigned)
        case tree.Binary(op="-" | "|" | "&" | "^") if _are_keys(node):
            return  # a set, whose order is its own
        case tree.Binary() | tree.Boolean() if not carrier.rows:
            yield carrier.to(above)
        case tree.Conditional(test=test) if test is not node:
            yield carrier.to(above)
        case tree.With(items=items):
            for context, bound in items:
                if context is node and bound is not None:
                    yield from stored(program, carrier, bound)


def stored(program: Program, carrier: Carrier, target: tree.Expr) -> Iterator[Carrier | Sink]:
    """From a target that gets the elements to its uses."""
    match item_of(target):
        case tree.Name() as target:
            for use in name_uses(program, carrier.facts, target):
                yield carrier.to(use)
        case tree.Attribute(value=tree.Name()) as target:
            yield from _read(program, carrier, target)
        case tree.Subscript(value=tree.Name() as owner, index=key):
            for use in holder_uses(program, carrier.facts, owner):
                yield from _taken_out(program, carrier, use, key)
                yield from order_rows.through_holder(program, carrier, use, key)
        case tree.Subscript(value=tree.Attribute(value=tree.Name()) as owner, index=key):
            for facts, read in holder_attribute_uses(program, carrier.facts, owner):
                yield from _taken_out(program, replace(carrier, facts=facts), read, key)


def _read(program: Program, carrier: Carrier, given: tree.Attribute | tree.FunctionDef) -> Iterator[Carrier | Sink]:
    """From an attribute that has the elements, or a property that returns them, to where it is read."""
    for facts, read in attribute_uses(program, carrier.facts, given):
        yield from _held(program, replace(carrier, facts=facts, numbered=False), read)


def _held(program: Program, carrier: Carrier, read: tree.Attribute | tree.Call) -> Iterator[Carrier | Sink]:
    """From what an object holds, or what a method without arguments returns, where it is read."""
    there = carrier.to(read)
    decides = decides_samples(program, carrier.facts, read) or order_iterators.reads_for_stream(program, there)
    if not carrier.is_dict and decides:
        held = read.func if isinstance(read, tree.Call) else read
        yield sink(carrier, "samples", read, f"`{called_name(held)}` gives the samples of a data set")
    yield there


def _through_dict(program: Program, carrier: Carrier, display: tree.DictDisplay) -> Iterator[Carrier | Sink]:
    """From a dict that holds the elements under a key to where they are taken out of it."""
    key = next((key for key, value in display.items if value is carrier.node), None)
    if key is not None:
        yield from through_held(program, carrier, display, key)


def through_held(program: Program, carrier: Carrier, made: tree.Expr, key: tree.Expr) -> Iterator[Carrier | Sink]:
    """From the dict that has the elements under `key` where it is made, or comes out of a call."""
    match parents_of(program.ev, carrier.facts).target_of(made):
        case tree.Name() as target:
            for use in holder_uses(program, carrier.facts, target):
                yield from _taken_out(program, carrier, use, key)
        case tree.Attribute(value=tree.Name()) as target:
            for facts, read in holder_attribute_uses(program, carrier.facts, target):
                yield from _taken_out(program, replace(carrier, facts=facts), read, key)
        case None:
            yield from _returned(program, carrier, made, key)


def _returned(program: Program, carrier: Carrier, holder: tree.Expr, key: tree.Expr) -> Iterator[Carrier | Sink]:
    """From a dict that a function returns to what its callers take out of it."""
    parents = parents_of(program.ev, carrier.facts)
    function = parents.function(holder)
    if not isinstance(parents.of(holder), tree.Return) or not isinstance(function, tree.FunctionDef):
        return
    if is_property(function) or carrier.hops >= MAX_HOPS:
        return
    for facts, call, carried in _calls_of(program, carrier, function):
        there = carried.hop(facts, call, Site(facts.path, call.site), f"gets it from {function.name}()")
        yield from through_held(program, there, call, key)


def _taken_out(program: Program, carrier: Carrier, holder: tree.Expr, key: tree.Expr) -> Iterator[Carrier | Sink]:
    """From a mapping that holds the elements under a key to where they are taken out of it."""
    above = parents_of(program.ev, carrier.facts).of(holder)
    if isinstance(above, tree.Attribute):
        yield from order_nested.through_values(program, carrier, above)
    yield from _returned(program, carrier, holder, key)
    if not isinstance(above, tree.Subscript) or above.value is not holder:
        return
    if isinstance(key, tree.Const) and isinstance(above.index, tree.Const) and key.value != above.index.value:
        return
    if not is_target(program, carrier.facts, above):
        if decides_samples(program, carrier.facts, above):
            yield sink(carrier, "samples", above, "gives the samples of a data set")
        yield replace(carrier, node=above, numbered=False)


def _through_subscript(
    program: Program, carrier: Carrier, above: tree.Subscript, indexes: bool
) -> Iterator[Carrier | Sink]:
    if isinstance(above.index, (tree.Const, tree.Unary)):
        return
    if isinstance(above.index, tree.Display) and any(isinstance(one, tree.Opaque) for one in above.index.items[:1]):
        if not is_target(program, carrier.facts, above):
            yield carrier.to(above)  # some columns of an array: `x[:, :n]`
        return
    if not isinstance(above.index, tree.Opaque):
        if not is_target(program, carrier.facts, above):
            yield from order_lookups.through_lookup(program, carrier, above, decides=indexes)
        return
    yield from through_slice(program, carrier, above)


def through_slice(program: Program, carrier: Carrier, piece: tree.Subscript) -> Iterator[Carrier | Sink]:
    """On from a slice, which may be a part of a split."""
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(piece)
    held = isinstance(above, tree.DictDisplay) and is_of_a_part(parents, above.items, piece)
    if held or is_called_a_part(parents, piece) or go_to_parts(parents, piece):
        yield sink(carrier, "split", piece, "is cut into the parts of a split")
    yield carrier.to(piece)


def _are_keys(node: tree.Expr) -> bool:
    return isinstance(node, tree.Call) and isinstance(node.func, tree.Attribute) and node.func.attr in ("keys", "items")


def _is_slice(node: Node) -> bool:
    return isinstance(node, tree.Subscript) and isinstance(node.index, tree.Opaque)


def to_callers(program: Program, carrier: Carrier, node: Node, place: int | None = None) -> Iterator[Carrier | Sink]:
    """From what a function returns or yields to its calls; with `place`, as that item of a tuple."""
    parents = parents_of(program.ev, carrier.facts)
    function = parents.function(node)
    if not isinstance(function, tree.FunctionDef):
        return
    if iterates_samples(program, carrier.facts, function):
        yield sink(carrier, "samples", node, "gives the samples of a data set")
    if is_property(function):
        if place is None:
            yield from _read(program, carrier, function)
        return
    for facts, call, carried in _calls_of(program, carrier, function):
        there = carried.hop(facts, call, Site(facts.path, call.site), f"gets it from {function.name}()")
        if place is None:
            yield from _held(program, there, call) if not call.args else (there,)
            continue
        match parents_of(program.ev, facts).of(call):
            case tree.Assign(targets=(tree.Display(items=items),)) if place < len(items):
                if _is_slice(node) and part_names(items[place]):
                    yield sink(there, "split", call, "is cut into the parts of a split")
                yield from stored(program, there, items[place])
            case tree.Return():
                if there.hops < MAX_HOPS:
                    yield from to_callers(program, there, call, place)


def _calls_of(
    program: Program, carrier: Carrier, function: tree.FunctionDef
) -> Iterator[tuple[ModuleFacts, tree.Call, Carrier]]:
    """The call through which the search entered a function, or else all visible calls; each with what is followed from
    there.
    """
    if carrier.entered and carrier.entered[-1][0] is function:
        _, facts, call = carrier.entered[-1]
        yield facts, call, replace(carrier, hops=carrier.hops - 1, entered=carrier.entered[:-1])
        return
    scope: Scope = carrier.facts.scope_of(function)
    places = calling_places(program.ev, carrier.facts, scope, MAX_CALLS, reached=False)
    once = {(one.facts.path, one.call.site): (one.facts, one.call) for one in places}
    # What a base calls is a method of its own, where nothing says of which class the object is.
    for facts, call in calls_in_bases(program, carrier.facts, function):
        once.setdefault((facts.path, call.site), (facts, call))
    for facts, call in islice(once.values(), MAX_CALLS):
        yield facts, call, carrier
