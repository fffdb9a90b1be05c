"""From a mapping that holds lists to what is taken out of it: `files[label]`, in whatever function it ends up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.orders import order_callees, order_nested, order_returns
from torchrepro_lint.program.orders.order_carriers import MAX_HOPS, Carrier, Step, sink
from torchrepro_lint.program.orders.order_datasets import decides_samples
from torchrepro_lint.program.orders.order_held import holder_attribute_uses, holder_uses, sorts_all
from torchrepro_lint.program.orders.order_places import is_property, is_target, name_uses
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["taken_out", "through_dict", "through_element"]

#: At how many places a mapping is looked at that goes from function to function.
MAX_PLACES: Final = 200

#: The places that a mapping was looked at, each with the calls that lead into the function and how many were followed.
_Places: TypeAlias = set[tuple[int, int, tuple[int, ...]]]


def through_dict(program: Program, carrier: Carrier, display: tree.DictDisplay) -> Iterator[Step]:
    """From a dict that holds the elements under a key to where they are taken out of it."""
    key = next((key for key, value in display.items if value is carrier.node), None)
    if key is not None:
        yield from through_held(program, carrier, display, key)


def through_element(program: Program, carrier: Carrier, around: tree.Comprehension) -> Iterator[Step]:
    """From the element of a comprehension, `[glob(p) for p in patterns]`, on."""
    if around.kind == "dict":
        if around.key is not None:
            yield from through_held(program, carrier, around, around.key)
    elif around.kind in ("list", "generator"):
        yield from order_nested.joined(program, carrier, around)
        target = parents_of(program.ev, carrier.facts).target_of(around)
        if isinstance(target, tree.Name):
            for use in name_uses(program, carrier.facts, target):
                yield from order_nested.joined(program, carrier, use)


def through_held(
    program: Program, carrier: Carrier, made: tree.Expr, key: tree.Expr, seen: _Places | None = None
) -> Iterator[Step]:
    """From the dict that has the elements under `key` where it is made, or comes out of a call."""
    seen = set() if seen is None else seen
    match parents_of(program.ev, carrier.facts).target_of(made):
        case tree.Name() as target:
            for use in holder_uses(program, carrier.facts, target):
                yield from taken_out(program, carrier, use, key, seen)
        case tree.Attribute(value=tree.Name()) as target:
            for facts, read in holder_attribute_uses(program, carrier.facts, target):
                yield from taken_out(program, replace(carrier, facts=facts), read, key, seen)
        case None:
            yield from taken_out(program, carrier, made, key, seen)


def taken_out(
    program: Program, carrier: Carrier, holder: tree.Expr, key: tree.Expr, seen: _Places | None = None
) -> Iterator[Step]:
    """From a mapping that holds the elements under a key to where they are taken out of it."""
    seen = set() if seen is None else seen
    place = (id(holder), carrier.hops, tuple(id(call) for _, _, call in carrier.entered))
    if place in seen or len(seen) >= MAX_PLACES:
        return
    seen.add(place)
    above = parents_of(program.ev, carrier.facts).of(holder)
    if isinstance(above, tree.Attribute):
        yield from order_nested.through_values(program, carrier, above)
    yield from _handed_over(program, carrier, holder, key, seen)
    if not isinstance(above, tree.Subscript) or above.value is not holder:
        return
    if isinstance(key, tree.Const) and isinstance(above.index, tree.Const) and key.value != above.index.value:
        return
    if not is_target(program, carrier.facts, above):
        if decides_samples(program, carrier.facts, above):
            yield sink(carrier, "samples", above, "gives the samples of a data set")
        yield replace(carrier, node=above, numbered=False)


def _handed_over(
    program: Program, carrier: Carrier, holder: tree.Expr, key: tree.Expr, seen: _Places
) -> Iterator[Step]:
    """From a mapping that gets another name, is returned or is handed to a function, to what is taken out of it."""
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(holder)
    call = parents.of(above) if isinstance(above, tree.Arg) else None
    if carrier.hops >= MAX_HOPS:
        return
    if isinstance(above, tree.Arg) and isinstance(call, tree.Call):
        for value in order_callees.called(program, carrier, call):
            reads = list(order_callees.into_function(program, carrier, call, above, value))
            if not any(sorts_all(parents_of(program.ev, read.facts), read.node) for read in reads):
                for read in reads:
                    yield from taken_out(program, read, read.node, key, seen)
    elif isinstance(above, tree.Assign):
        yield from through_held(program, replace(carrier, hops=carrier.hops + 1), holder, key, seen)
    elif isinstance(above, tree.Return):
        yield from _returned(program, carrier, holder, key, seen)


def _returned(program: Program, carrier: Carrier, holder: tree.Expr, key: tree.Expr, seen: _Places) -> Iterator[Step]:
    """From a dict that a function returns to what its callers take out of it."""
    function = parents_of(program.ev, carrier.facts).function(holder)
    if not isinstance(function, tree.FunctionDef) or is_property(function):
        return
    for facts, call, carried in order_returns.calls_of(program, carrier, function):
        there = carried.hop(facts, call, Site(facts.path, call.site), f"gets it from {function.name}()")
        yield from through_held(program, there, call, key, seen)
