"""What a function returns or yields: where its callers get it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.conditions import may_run
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.orders.order_carriers import MAX_HOPS, Carrier, Reads, Step, Stored, Use, sink
from torchrepro_lint.program.orders.order_datasets import iterates_samples
from torchrepro_lint.program.orders.order_places import calls_in_bases, is_property, scope_around
from torchrepro_lint.program.orders.permutations import part_names
from torchrepro_lint.program.running.call_index import NamedCall
from torchrepro_lint.program.running.callers import contexts, frames_of_call
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.parents import Node, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["calls_of", "to_callers"]

MAX_CALLS: Final = 6


def to_callers(program: Program, carrier: Carrier, node: Node, place: int | None = None) -> Iterator[Step]:
    """From what a function returns or yields to its calls; with `place`, as that item of a tuple."""
    parents = parents_of(program.ev, carrier.facts)
    function = parents.function(node)
    if not isinstance(function, tree.FunctionDef):
        return
    if iterates_samples(program, carrier.facts, function):
        yield sink(carrier, "samples", node, "gives the samples of a data set")
    if is_property(function):
        if place is None:
            yield Reads(carrier, function)
        return
    for facts, call, carried in calls_of(program, carrier, function, node):
        there = carried.hop(facts, call, Site(facts.path, call.site), f"gets it from {function.name}()")
        if place is None:
            yield Use(there, call) if not call.args else there
            continue
        match parents_of(program.ev, facts).of(call):
            case tree.Assign(targets=(tree.Display(items=items),)) if place < len(items):
                if _is_slice(node) and part_names(items[place]):
                    yield sink(there, "split", call, "is cut into the parts of a split")
                yield Stored(there, items[place])
            case tree.Return():
                if there.hops < MAX_HOPS:
                    yield from to_callers(program, there, call, place)


def calls_of(
    program: Program, carrier: Carrier, function: tree.FunctionDef, node: Node | None = None
) -> Iterator[tuple[ModuleFacts, tree.Call, Carrier]]:
    """The call through which the search entered a function, or else all visible calls; each with what is followed from
    there. With `node`, those with whose arguments what was passed to come to that place of the function may be run:
    `names(folder)` gives no set where that needs `sort=False`.
    """
    if carrier.entered and carrier.entered[-1][0] is function:
        _, facts, call = carrier.entered[-1]
        yield facts, call, replace(carrier, hops=carrier.hops - 1, entered=carrier.entered[:-1])
        return
    scope: Scope = carrier.facts.scope_of(function)
    places = calling_places(program.ev, carrier.facts, scope, MAX_CALLS, reached=False)
    once = {
        (one.facts.path, one.call.site): (one.facts, one.call)
        for one in places
        if node is None or _may_come_out(program, carrier, scope, node, one)
    }
    # What a base calls is a method of its own, where nothing says of which class the object is.
    for facts, call in calls_in_bases(program, carrier.facts, function):
        once.setdefault((facts.path, call.site), (facts, call))
    for facts, call in islice(once.values(), MAX_CALLS):
        yield facts, call, carrier


def _may_come_out(program: Program, carrier: Carrier, scope: Scope, node: Node, calling: NamedCall) -> bool:
    """Whether a call may run the function so that the order comes to a place in it."""
    site = node.site  # type: ignore[union-attr]
    if not scope.path_at(site) and not scope.ended and not carrier.taken:
        return True  # said first: with which arguments a function is called is much to ask
    frames = [
        frame
        for caller in contexts(program.ev, calling.facts, calling.scope)
        for frame in frames_of_call(program.ev, calling.call, caller, scope)
    ]
    return not frames or any(
        may_run(program.ev, site, scope.path_at(site), frame)
        and all(
            any(option is part for option in options_of(program.ev, whole, frame))
            for facts, whole, part in carrier.taken
            if facts is carrier.facts and scope_around(program, facts, whole) is scope
        )
        for frame in frames
    )


def _is_slice(node: Node) -> bool:
    return isinstance(node, tree.Subscript) and isinstance(node.index, tree.Opaque)
