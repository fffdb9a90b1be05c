"""What a loop or a comprehension makes of the order of what it iterates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import conjuncts, words_in
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_words
from torchrepro_lint.program.orders import (
    order_dicts,
    order_grown,
    order_handed,
    order_parts,
    order_returns,
    order_turn_draws,
)
from torchrepro_lint.program.orders.order_carriers import Carrier, Sink, Step, Stored, sink
from torchrepro_lint.program.orders.order_datasets import prepares_samples
from torchrepro_lint.program.orders.order_held import item_of
from torchrepro_lint.program.orders.order_places import name_uses
from torchrepro_lint.program.orders.order_turns import Turns, names_in, text_of
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "counts",
    "numbering",
    "position_names",
    "through_comprehension",
    "through_loop",
    "through_taken",
    "through_turns",
]


def through_comprehension(
    program: Program, carrier: Carrier, comprehension: Node | None, clause: tree.Clause
) -> Iterator[Step]:
    """A list or generator keeps the order; a dict that numbers its elements fixes it."""
    if isinstance(comprehension, tree.Comprehension):
        numbers = position_names(clause.target, clause.iter) if carrier.numbered else set()
        yield from through_turns(program, carrier, comprehension, numbers, names_in(clause.target) - numbers)


def through_loop(program: Program, carrier: Carrier, loop: tree.For) -> Iterator[Step]:
    """What the body of a loop fills in this order: lists, dicts of numbers, what a generator yields."""
    if _takes_one(loop):
        return
    numbers = position_names(loop.target, loop.iter) if carrier.numbered else set()
    yield from through_turns(program, carrier, loop, numbers, names_in(loop.target) - numbers)


def through_taken(
    program: Program, carrier: Carrier, taken: tree.Call, loop: tree.For | tree.While | tree.Comprehension
) -> Iterator[Step]:
    """From a loop or comprehension each turn of which takes one element by a call: `found.append(results.get())`."""
    if isinstance(loop, tree.Comprehension):
        yield from through_turns(program, carrier, loop, set(), set(), taken)
        return
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(taken)
    target = above.targets[0] if isinstance(above, tree.Assign) and len(above.targets) == 1 else None
    numbers: set[str] = set()
    if isinstance(loop, tree.For):
        is_number = isinstance(loop.target, tree.Name) and counts(loop.iter)
        numbers = names_in(loop.target) if is_number else position_names(loop.target, loop.iter)
    turns = tree.For(loop.site, target if target is not None else taken, taken, loop.body, loop.orelse)
    yield from through_turns(
        program, carrier, turns, numbers, names_in(target) if target is not None else set(),
        taken if target is None else None,
    )  # fmt: skip


def through_turns(
    program: Program,
    carrier: Carrier,
    around: tree.For | tree.Comprehension,
    numbers: set[str],
    elements: set[str],
    lookup: tree.Subscript | tree.Call | None = None,
) -> Iterator[Step]:
    """From a loop or comprehension whose turns have one element each, in this order.

    The element goes by the names `elements`, or is looked up; `numbers` are the names of its position. Turns that
    mention none of them are all alike.
    """
    turns = Turns(program, carrier.facts, around, numbers, elements, lookup)
    if lookup is None and not turns.are_read():
        return
    if isinstance(around, tree.For):
        yield from _through_body(program, carrier, around, turns)
    elif around.kind in ("list", "generator"):
        yield carrier.listed(around, numbered=False)
    elif around.kind == "dict":
        parts = [part for part in (around.key, around.element) if part is not None]
        if any(turns.have_position(part) and not turns.have_title(part) for part in parts):
            yield from numbering(program, carrier, around)
        elif around.key is not None and turns.have_element(around.key):
            yield carrier.as_keys().to(around)


def _through_body(program: Program, carrier: Carrier, loop: tree.For, turns: Turns) -> Iterator[Step]:
    yield from order_parts.through_parts(
        program, carrier, loop, has_position=turns.have_position, has_element=turns.have_element
    )
    filled: set[str] = set()
    for statement in own_statements(loop.body):
        match statement:
            case tree.Assign(targets=(tree.Subscript(value=owner, index=key),), value=value) if value is not None:
                if (turns.have_position(value) or turns.count_up(value)) and turns.have_element(key):
                    yield from numbering(program, carrier, statement)
                elif turns.have_element(value) and (turns.are_numbered(key) or turns.count_up(key)):
                    yield Stored(carrier.listed(carrier.node, numbered=False), owner)
            case tree.AugAssign(target=target, op="+", value=tree.Display(kind="list") | tree.Comprehension()):
                yield Stored(carrier.listed(carrier.node), target)
            case tree.ExprStmt(value=tree.Call(func=tree.Attribute(value=owner, attr=attr), args=args)) if (
                attr in method_words("list_fills")
            ):
                if any(turns.pair_with_a_number(arg.value) for arg in args):
                    yield sink(carrier, "index", statement, "numbers its elements")
                owner = item_of(owner)
                text = text_of(owner)
                if turns.make_anew(owner) or turns.keep_by_element(owner):
                    continue
                if text not in filled and isinstance(owner, (tree.Name, tree.Attribute, tree.Subscript)):
                    filled.add(text)
                    yield Stored(carrier.listed(carrier.node, numbered=False), owner)
            case tree.ExprStmt(value=tree.Call(func=tree.Attribute(attr="setdefault"), args=(key, number)) as call) if (
                turns.have_element(key.value) and turns.count_up(number.value)
            ):
                yield from numbering(program, carrier, call)
            case tree.ExprStmt(value=tree.Yield() as node):
                yield from order_returns.to_callers(program, carrier, node)
            case tree.ExprStmt(value=tree.Call(func=func, args=(_, place, *_))) if called_name(func) == "save":
                if turns.have_number(place.value) and prepares_samples(program, carrier.facts, loop):
                    yield sink(carrier, "samples", statement, "saves each sample under its position")
        yield from order_dicts.through_filled(program, carrier, loop, statement)
        yield from order_grown.through_grown(program, carrier, loop, statement)
        yield from order_handed.through_handed(program, carrier, loop, statement)
    yield from order_turn_draws.through_draws(program, carrier, loop, turns)


def _takes_one(loop: tree.For) -> bool:
    """Whether a loop over names that differ does something for a single one of them: `if name != wanted: continue`."""
    match loop.target, loop.body:
        case tree.Name(id=name), (tree.If(test=test, body=(tree.Jump(kind="continue"),), orelse=()), *_):
            return _tells_one(test, name, "!=")
        case tree.Name(id=name), (tree.If(test=test, orelse=()),):
            return any(_tells_one(part, name, "==") for part in conjuncts(test))
    return False


def _tells_one(test: tree.Expr, name: str, op: str) -> bool:
    match test:
        case tree.Compare(left=left, ops=(found,), comparators=(right,)) if found == op:
            names = [isinstance(side, tree.Name) and side.id == name for side in (left, right)]
            return names.count(True) == 1 and name not in words_in([right if names[0] else left])
    return False


def numbering(program: Program, carrier: Carrier, at: tree.Expr | tree.Assign) -> Iterator[Sink]:
    """The end of a way where a dict is made, or filled, that numbers the elements; none where the numbers only tell
    them apart: `chr(numbers[word])`.
    """
    parents = parents_of(program.ev, carrier.facts)
    match at if isinstance(at, tree.Assign) else parents.of(at):
        case tree.Assign(targets=(tree.Name() as mapping,) | (tree.Subscript(value=tree.Name() as mapping),)):
            if parents.function(mapping) is not None:
                reads = [use for use in name_uses(program, carrier.facts, mapping) if not _is_filled(parents, use)]
                if reads and all(_only_tells_apart(parents, use) for use in reads):
                    return
    yield sink(carrier, "index", at, "numbers its elements")


def _is_filled(parents: Parents, use: tree.Name) -> bool:
    above = parents.of(use)
    return isinstance(above, tree.Subscript) and above.value is use and parents.is_bound(above)


def _only_tells_apart(parents: Parents, use: tree.Name) -> bool:
    above = parents.of(use)
    handed = parents.of(above) if isinstance(above, tree.Subscript) and above.value is use else None
    match parents.of(handed) if isinstance(handed, tree.Arg) else None:
        case tree.Call(func=tree.Name(id=name)):
            return name in ordering_words("tells_apart")
    return False


def position_names(target: tree.Expr, iterated: tree.Expr) -> set[str]:
    """The name that gets the position in `for i, x in enumerate(...)`, or in `for x, i in zip(xs, range(n))`."""
    if not isinstance(target, tree.Display):
        return set()
    at = 0
    match iterated:
        case tree.Call(func=tree.Name(id="zip"), args=args):
            at = next((index for index, arg in enumerate(args) if counts(arg.value)), 0)
    item = target.items[at] if at < len(target.items) else None
    return {item.id} if isinstance(item, tree.Name) else set()


def counts(node: tree.Expr) -> bool:
    """Whether an expression counts up: `range(n)`, `itertools.count()`."""
    match node:
        case tree.Call(func=tree.Name(id="range" | "count") | tree.Attribute(attr="count" | "arange")):
            return True
    return False
