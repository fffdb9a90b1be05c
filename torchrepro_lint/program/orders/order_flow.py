"""Where the order of a listing or a set ends up: in a dataset's samples, a split, an index of classes, or nowhere.

An expression whose elements come in an order that is not fixed is followed forward: through names, attributes of
`self`, lists filled in a loop over it, parameters and return values. Sorting it, counting it, or testing for membership
ends the search. There is a result only if the order decides something.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.orders import (
    order_calls,
    order_iterators,
    order_lookups,
    order_loops,
    order_mappings,
    order_returns,
    order_rows,
)
from torchrepro_lint.program.orders.order_carriers import (
    MAX_HOPS,
    Carrier,
    Reads,
    Sink,
    Slice,
    Step,
    Stored,
    Use,
    sink,
)
from torchrepro_lint.program.orders.order_datasets import decides_samples
from torchrepro_lint.program.orders.order_held import holder_attribute_uses, holder_uses, item_of
from torchrepro_lint.program.orders.order_pieces import go_to_parts, is_called_a_part
from torchrepro_lint.program.orders.order_places import (
    attribute_uses,
    is_target,
    made_longer,
    may_run_at,
    name_uses,
    scope_around,
)
from torchrepro_lint.program.orders.order_sorted import is_sorted_on_the_way
from torchrepro_lint.program.orders.permutations import is_of_a_part
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["find_sink", "find_sink_of_target", "find_sink_of_turns", "sink_of_use"]

MAX_STEPS: Final = 120


def find_sink(
    program: Program, facts: ModuleFacts, node: tree.Expr, *, of_set: bool = False, but: Collection[tree.Expr] = ()
) -> Sink | None:
    """The first place where the order of the elements of `node` decides something; None if there is none.

    `of_set`: it is a set, so a look-up by position in a list that is made from it counts as well. What passes through
    one of the expressions in `but` is left out.
    """
    return _follow(program, [Carrier(facts, node, is_set=of_set)], indexes=of_set, but={id(one) for one in but})


def sink_of_use(
    program: Program, facts: ModuleFacts, use: tree.Expr, *, of_set: bool = False, is_set: bool = False,
    at_all: bool = False,
) -> Sink | None:  # fmt: skip
    """The first place where the order of what is used decides something; None if there is none.

    `of_set`: it is the order of a set, so a look-up by position counts as well; `is_set`: what is used is that set.
    With `at_all` it is not asked whether that place runs, nor whether something is sorted on the way there.
    """
    carrier = Carrier(facts, use, is_set=is_set)
    begin = Use(carrier, use) if isinstance(use, (tree.Attribute, tree.Call)) else carrier
    begins = list(_followed(program, [begin]))
    found = next((one for one in begins if isinstance(one, Sink)), None)
    carriers = [one for one in begins if isinstance(one, Carrier)]
    return found or _follow(program, carriers, indexes=of_set, at_all=at_all)


def find_sink_of_target(program: Program, facts: ModuleFacts, target: tree.Expr) -> Sink | None:
    """The same for the elements that a target of an assignment gets."""
    pending: list[Carrier] = []
    for found in _followed(program, [Stored(Carrier(facts, target), target)]):
        if isinstance(found, Sink):
            return found
        pending.append(found)
    return _follow(program, pending, indexes=False)


def find_sink_of_turns(
    program: Program, facts: ModuleFacts, taken: tree.Call, loop: tree.For | tree.While | tree.Comprehension
) -> Sink | None:
    """The first place where the order decides something in which the turns of a loop take elements by a call."""
    pending: list[Carrier] = []
    for found in _followed(program, order_loops.through_taken(program, Carrier(facts, taken), taken, loop)):
        if isinstance(found, Sink):
            return found
        pending.append(found)
    return _follow(program, pending, indexes=False)


def _follow(
    program: Program, pending: list[Carrier], indexes: bool, but: Collection[int] = (), at_all: bool = False
) -> Sink | None:
    seen: set[tuple[int, bool, bool, bool, tuple[int, ...]]] = set()
    before: dict[Carrier, Carrier | None] = dict.fromkeys(pending)
    unless: list[Sink] = []
    is_cut = False
    for _ in range(MAX_STEPS):
        if not pending:
            break
        carrier = pending.pop(0)
        if carrier.key in seen or id(carrier.node) in but:
            continue
        if carrier.hops > MAX_HOPS:
            is_cut = True
            continue
        seen.add(carrier.key)
        for found in _followed(program, _next(program, carrier, indexes)):
            if not isinstance(found, Sink):
                before[found] = carrier
                pending.append(found)
            elif not (at_all or _comes_there(program, found, carrier, before)):
                continue
            elif found.beside is None:
                return found
            else:
                unless.append(found)
    if pending or is_cut:
        return None  # what is beside a sink may have the same order, further on
    nodes = {node for node, *_ in seen}
    return next((found for found in unless if id(found.beside) not in nodes), None)


def _comes_there(program: Program, found: Sink, carrier: Carrier, before: Mapping[Carrier, Carrier | None]) -> bool:
    """Whether the order comes to where it decides something: that runs, and nothing is sorted on the way there."""
    is_sorted = is_sorted_on_the_way(program, _way_to(carrier, before), _given_anew(before))
    return not is_sorted and may_run_at(program, _places(found, carrier, before))


def _way_to(carrier: Carrier, before: Mapping[Carrier, Carrier | None]) -> list[Carrier]:
    """What was followed from the source to here; without what a function gives back to the call through which the
    search came into it: that may be what the call was given.
    """
    way: list[Carrier] = []
    at: Carrier | None = carrier
    while at is not None:
        way.append(at)
        at = before[at]
    return [one for one in reversed(way) if not _is_given_back(one, before)]


def _places(found: Sink, carrier: Carrier, before: Mapping[Carrier, Carrier | None]) -> Iterator[Site]:
    """Where the order decides something, and what it passes through on the way there."""
    yield found.chain[-1].site
    for one in _way_to(carrier, before):
        yield Site(one.facts.path, one.node.site)


def _given_anew(before: Mapping[Carrier, Carrier | None]) -> list[Carrier]:
    return [one for one in before if not _is_given_back(one, before)]


def _is_given_back(carrier: Carrier, before: Mapping[Carrier, Carrier | None]) -> bool:
    last = before[carrier]
    return last is not None and len(carrier.entered) < len(last.entered)


def _followed(program: Program, steps: Iterable[Step]) -> Iterator[Carrier | Sink]:
    """The expressions and the ends to which some steps lead."""
    for step in steps:
        match step:
            case Carrier() | Sink():
                yield step
            case Stored(carrier=carrier, target=target):
                yield from _followed(program, _stored(program, carrier, target))
            case Reads(carrier=carrier, given=given):
                yield from _followed(program, _through_reads(program, carrier, given))
            case Use(carrier=carrier, read=read):
                yield from _through_use(program, carrier, read)
            case Slice(carrier=carrier, piece=piece):
                yield from _through_slice(program, carrier, piece)


def _next(program: Program, carrier: Carrier, indexes: bool) -> Iterator[Step]:
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
                yield Stored(carrier, target)
        case tree.AugAssign(op=op, target=target, value=value) if value is node:
            if op != "-" or not carrier.is_set:  # a set that is taken away from another gives it nothing
                yield Stored(carrier, target)
        case tree.Walrus(target=target):
            yield carrier.to(above)
            yield Stored(carrier, target)
        case tree.Return() | tree.Yield():
            yield from order_returns.to_callers(program, carrier, node)
        case tree.For(iter=iterated) if iterated is node and not order_rows.may_be_columns(carrier):
            yield from order_loops.through_loop(program, carrier, above)
        case tree.Clause(iter=iterated) if iterated is node and not order_rows.may_be_columns(carrier):
            yield from order_loops.through_comprehension(program, carrier, parents.of(above), above)
        case tree.DictDisplay() if not carrier.is_dict:
            yield from order_rows.through_dict(program, carrier, above)
            yield from order_mappings.through_dict(program, carrier, above)
        case tree.Comprehension(element=element) if element is node and not carrier.is_dict:
            yield from order_mappings.through_element(program, carrier, above)
        case tree.Starred():
            yield carrier.listed(above)
        case tree.Await():
            yield carrier.to(above)
        case tree.Display(kind="list" | "tuple") if isinstance(node, tree.Starred):
            yield carrier.to(above)
        case tree.Display(kind="tuple", items=items) if isinstance(parents.of(above), tree.Return):
            place = next(index for index, item in enumerate(items) if item is node)
            yield from order_returns.to_callers(program, carrier, node, place)
        case tree.Display(kind="tuple"):
            assigned = parents.target_of(node)
            if assigned is not None:
                yield Stored(carrier, assigned)
        case tree.Binary(op="-" | "|" | "&" | "^") if _are_keys(node):
            return  # a set, whose order is its own
        case tree.Binary() if not carrier.rows:
            yield carrier.to(above)
        case tree.Boolean() if not carrier.rows and _may_give(program, carrier, above, node):
            yield carrier.out_of(above)
        case tree.Conditional() if _may_give(program, carrier, above, node):
            yield carrier.out_of(above)
        case tree.With(items=items):
            for context, bound in items:
                if context is node and bound is not None:
                    yield Stored(carrier, bound)


def _may_give(program: Program, carrier: Carrier, whole: tree.Conditional | tree.Boolean, part: tree.Expr) -> bool:
    """Whether a part of an expression may be what the expression gives."""
    alone = frame_without_callers(program.ev, carrier.facts, scope_around(program, carrier.facts, whole))
    return any(option is part for option in options_of(program.ev, whole, alone))


def _stored(program: Program, carrier: Carrier, target: tree.Expr) -> Iterator[Step]:
    """From a target that gets the elements to its uses."""
    match item_of(target):
        case tree.Name() as target:
            for use in name_uses(program, carrier.facts, target):
                yield carrier.to(use)
            for longer in made_longer(program, carrier.facts, target):
                yield Stored(carrier, longer)
        case tree.Attribute(value=tree.Name()) as target:
            yield Reads(carrier, target)
        case tree.Subscript(value=tree.Name() as owner, index=key):
            for use in holder_uses(program, carrier.facts, owner):
                yield from order_mappings.taken_out(program, carrier, use, key)
                yield from order_rows.through_holder(program, carrier, use, key)
        case tree.Subscript(value=tree.Attribute(value=tree.Name()) as owner, index=key):
            for facts, read in holder_attribute_uses(program, carrier.facts, owner):
                yield from order_mappings.taken_out(program, replace(carrier, facts=facts), read, key)


def _through_reads(program: Program, carrier: Carrier, given: tree.Attribute | tree.FunctionDef) -> Iterator[Step]:
    """From an attribute that has the elements, or a property that returns them, to where it is read."""
    for facts, read in attribute_uses(program, carrier.facts, given):
        yield Use(replace(carrier, facts=facts, numbered=False), read)


def _through_use(program: Program, carrier: Carrier, read: tree.Attribute | tree.Call) -> Iterator[Carrier | Sink]:
    """From what an object holds, or what a method without arguments returns, where it is read."""
    there = carrier.to(read)
    decides = decides_samples(program, carrier.facts, read) or order_iterators.reads_for_stream(program, there)
    if not carrier.is_dict and decides:
        held = read.func if isinstance(read, tree.Call) else read
        name = called_name(held)
        yield sink(carrier, "samples", read, f"`{name}` gives the samples of a data set", kept_in=name)
    yield there


def _through_subscript(program: Program, carrier: Carrier, above: tree.Subscript, indexes: bool) -> Iterator[Step]:
    if isinstance(above.index, (tree.Const, tree.Unary)):
        return
    if isinstance(above.index, tree.Display) and any(isinstance(one, tree.Opaque) for one in above.index.items[:1]):
        if not is_target(program, carrier.facts, above):
            yield carrier.to(above)  # some columns of an array: `x[:, :n]`
        return
    if not isinstance(above.index, tree.Opaque):
        if not carrier.text and not is_target(program, carrier.facts, above):
            yield from order_lookups.through_lookup(program, carrier, above, decides=indexes)
        return
    yield Slice(carrier, above)


def _through_slice(program: Program, carrier: Carrier, piece: tree.Subscript) -> Iterator[Carrier | Sink]:
    """On from a slice, which may be a part of a split."""
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(piece)
    held = isinstance(above, tree.DictDisplay) and is_of_a_part(parents, above.items, piece)
    if held or is_called_a_part(parents, piece) or go_to_parts(parents, piece):
        yield sink(carrier, "split", piece, "is cut into the parts of a split")
    yield carrier.to(piece)


def _are_keys(node: tree.Expr) -> bool:
    return isinstance(node, tree.Call) and isinstance(node.func, tree.Attribute) and node.func.attr in ("keys", "items")
