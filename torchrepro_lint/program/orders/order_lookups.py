"""What a look-up by position makes of the order of what it looks into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.orders import order_callees, order_draws, order_loops
from torchrepro_lint.program.orders.order_carriers import Carrier, Sink, Step, Stored, sink
from torchrepro_lint.program.orders.order_datasets import is_item_asked_for
from torchrepro_lint.program.orders.order_places import is_target, scope_around
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_lookup"]

_RANGES: Final = frozenset({"range", "arange", "trange"})
_WRAPPERS: Final = frozenset({"tqdm", "track"})


def through_lookup(program: Program, carrier: Carrier, lookup: tree.Subscript, *, decides: bool) -> Iterator[Step]:
    """From `xs[i]` on, where `xs` has the order.

    With `decides` the look-up itself is an end of the way, unless `i` takes every position of something that has the
    same order: `for i in range(len(xs))` and `for i, y in enumerate(ys)`. The former does what `for x in xs` does. Nor
    is it one if `i` are the ranks of such a thing, `xs[np.argsort(ys)]` sorts both, or tell which of it is wanted:
    `xs[ys == 3]` keeps the order.
    """
    found = sink(carrier, "position", lookup, "is looked up by position")
    if not decides and is_item_asked_for(program, carrier.facts, lookup):
        yield sink(carrier, "samples", lookup, "gives the item of a data set")
        return
    if order_draws.are_drawn(program, carrier, lookup.index):
        yield sink(carrier, "split", lookup, "is looked up by positions that are drawn")
        return
    ranked = _ranked(program, carrier, lookup.index)
    if ranked is not None:
        if decides:
            yield replace(found, beside=ranked)
        return
    mask = scope_around(program, carrier.facts, lookup).behind(lookup.index)
    if isinstance(mask, tree.Compare):
        if decides:
            yield replace(found, beside=mask.left)
        yield carrier.to(lookup)
        return
    match _turns_of(program, carrier, lookup.index):
        case tree.For() | tree.Comprehension() as around, whole, is_enumerated:
            if decides:
                yield replace(found, beside=whole)
            if not is_enumerated:
                yield from _through_positions(program, carrier, lookup, around, found if decides else None)
        case _ if decides:
            yield found


def _ranked(program: Program, carrier: Carrier, index: tree.Expr) -> tree.Expr | None:
    """What is put in order by the positions that `index` gives: `ys` in `np.argsort(ys)`."""
    match index:
        case tree.Call(args=(first, *_)):
            names = order_callees.names_called(program, order_callees.called(program, carrier, index))
            if names & ordering_names("ranks"):
                return first.value
    return None


def _turns_of(
    program: Program, carrier: Carrier, index: tree.Expr
) -> tuple[tree.For | tree.Comprehension, tree.Expr, bool] | None:
    """The loop that takes every position of something, where `index` is the position; and what that is.

    True where the loop enumerates it, and so has its elements by another name.
    """
    if not isinstance(index, tree.Name):
        return None
    for above in parents_of(program.ev, carrier.facts).around(index):
        if not isinstance(above, (tree.For, tree.Comprehension)):
            continue
        for clause in above.clauses if isinstance(above, tree.Comprehension) else (above,):
            if index.id in order_loops.position_names(clause.target, clause.iter):
                whole = _enumerated(clause.iter)
                return None if whole is None else (above, whole, True)
            if isinstance(clause.target, tree.Name) and clause.target.id == index.id:
                whole = _counted_whole(program, carrier, clause.iter)
                return None if whole is None else (above, whole, False)
    return None


def _enumerated(node: tree.Expr) -> tree.Expr | None:
    match node:
        case tree.Call(func=tree.Name(id="enumerate"), args=(first, *_)):
            return first.value
    return None


def _counted_whole(program: Program, carrier: Carrier, node: tree.Expr) -> tree.Expr | None:
    """What has the positions that a range counts: `xs` in `range(len(xs))`, `tqdm(range(1, len(xs)))`, and downwards in
    `range(len(xs) - 1, -1, -1)`.
    """
    match node:
        case tree.Call(func=func, args=(first, *rest)):
            name = called_name(func)
            if name in _WRAPPERS:
                return _counted_whole(program, carrier, first.value)
            if name in _RANGES:
                positional = [first, *(arg for arg in rest if arg.keyword is None)]
                if len(positional) == 3 and isinstance(first.value, tree.Binary) and first.value.op == "-":
                    return _measured(program, carrier, first.value.left)
                return _measured(program, carrier, positional[1 if len(positional) > 1 else 0].value)
    return None


def _measured(program: Program, carrier: Carrier, node: tree.Expr) -> tree.Expr | None:
    """`xs` in `len(xs)`, also by way of a name."""
    match node:
        case tree.Call(func=tree.Name(id="len"), args=(whole,)):
            return whole.value
        case tree.Name(id=name):
            bindings, certain = scope_around(program, carrier.facts, node).reaching(name, node.site)
            match bindings:
                case [binding] if certain and binding.kind == "assign" and isinstance(binding.node, tree.Call):
                    return _measured(program, carrier, binding.node)
    return None


def _through_positions(
    program: Program,
    carrier: Carrier,
    lookup: tree.Subscript,
    around: tree.For | tree.Comprehension,
    found: Sink | None,
) -> Iterator[Step]:
    """From a loop that looks up the elements one after the other; its end too where it pairs them with others."""
    assert isinstance(lookup.index, tree.Name)
    position = lookup.index.id
    parents = parents_of(program.ev, carrier.facts)
    for use in parents.names_in(position, around):
        other = parents.of(use)
        if use is lookup.index:
            continue
        if isinstance(other, tree.Subscript) and other.index is use:
            if is_target(program, carrier.facts, other):
                if parents.statement(other) is parents.statement(lookup):
                    yield Stored(carrier.listed(carrier.node, numbered=False), other.value)
            elif found is not None:
                yield replace(found, beside=other.value)
    elements = _names_of_elements(around, lookup) if isinstance(around, tree.For) else set()
    yield from order_loops.through_turns(program, carrier, around, {position}, elements, lookup)


def _names_of_elements(loop: tree.For, lookup: tree.Subscript) -> set[str]:
    """The names that the body of a loop gives to what it looks up."""
    return {
        part.id
        for statement in own_statements(loop.body)
        if isinstance(statement, tree.Assign) and statement.value is not None
        if any(part is lookup for part in walk([statement.value]))
        for part in walk(statement.targets)
        if isinstance(part, tree.Name)
    }
