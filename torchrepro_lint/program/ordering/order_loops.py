"""What a loop or a comprehension makes of the order of what it iterates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_words
from torchrepro_lint.program.ordering import (
    order_dicts,
    order_flow,
    order_grown,
    order_handed,
    order_parts,
    order_returns,
)
from torchrepro_lint.program.ordering.order_carriers import Carrier, Sink, sink
from torchrepro_lint.program.ordering.order_held import item_of
from torchrepro_lint.program.ordering.order_places import name_uses, prepares_samples, scope_around
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["counts", "numbering", "position_names", "through_comprehension", "through_loop", "through_turns"]


def through_comprehension(
    program: Program, carrier: Carrier, comprehension: Node | None, clause: tree.Clause
) -> Iterator[Carrier | Sink]:
    """A list or generator keeps the order; a dict that numbers its elements fixes it."""
    if isinstance(comprehension, tree.Comprehension):
        numbers = position_names(clause.target, clause.iter) if carrier.numbered else set()
        yield from through_turns(program, carrier, comprehension, numbers, _names(clause.target) - numbers)


def through_loop(program: Program, carrier: Carrier, loop: tree.For) -> Iterator[Carrier | Sink]:
    """What the body of a loop fills in this order: lists, dicts of numbers, what a generator yields."""
    numbers = position_names(loop.target, loop.iter) if carrier.numbered else set()
    yield from through_turns(program, carrier, loop, numbers, _names(loop.target) - numbers)


def _names(target: tree.Expr) -> set[str]:
    return {node.id for node in walk([target]) if isinstance(node, tree.Name)}


def through_turns(
    program: Program,
    carrier: Carrier,
    around: tree.For | tree.Comprehension,
    numbers: set[str],
    elements: set[str],
    lookup: tree.Subscript | None = None,
) -> Iterator[Carrier | Sink]:
    """From a loop or comprehension whose turns have one element each, in this order.

    The element goes by the names `elements`, or is looked up; `numbers` are the names of its position. Turns that
    mention none of them are all alike.
    """
    if lookup is None and not _are_read(program, carrier, around, elements | numbers):
        return
    if isinstance(around, tree.For):
        yield from _through_body(program, carrier, around, numbers, elements, lookup)
    elif around.kind in ("list", "generator"):
        yield carrier.listed(around, numbered=False)
    elif around.kind == "dict":
        parts = [part for part in (around.key, around.element) if part is not None]
        if any(_mentions(part, numbers, lookup) and not _is_title(part, elements, lookup) for part in parts):
            yield from numbering(program, carrier, around)
        elif around.key is not None and _has_element(around.key, elements, lookup):
            yield carrier.as_keys().to(around)


def _are_read(program: Program, carrier: Carrier, around: tree.For | tree.Comprehension, names: set[str]) -> bool:
    """Whether a loop or comprehension reads one of the names that it gives to its elements."""
    parents = parents_of(program.ev, carrier.facts)
    return any(not parents.is_bound(use) for name in names for use in parents.names_in(name, around))


def _through_body(
    program: Program,
    carrier: Carrier,
    loop: tree.For,
    numbers: set[str],
    elements: set[str],
    lookup: tree.Subscript | None,
) -> Iterator[Carrier | Sink]:
    yield from order_parts.through_parts(
        program,
        carrier,
        loop,
        has_position=partial(_mentions, names=numbers, lookup=lookup),
        has_element=partial(_has_element, elements=elements, lookup=lookup),
    )
    filled: set[str] = set()
    for statement in own_statements(loop.body):
        match statement:
            case tree.Assign(targets=(tree.Subscript(value=owner, index=key),), value=value) if value is not None:
                counted = _mentions(value, numbers, lookup) or _is_count(
                    program, carrier, value, loop, elements, lookup
                )
                if counted and _has_element(key, elements, lookup):
                    yield from numbering(program, carrier, statement)
                elif _has_element(value, elements, lookup) and (
                    _is_at_its_position(key, numbers) or _is_count(program, carrier, key, loop, elements, lookup)
                ):
                    yield from order_flow.stored(program, carrier.listed(carrier.node, numbered=False), owner)
            case tree.AugAssign(target=target, op="+", value=tree.Display(kind="list") | tree.Comprehension()):
                yield from order_flow.stored(program, carrier.listed(carrier.node), target)
            case tree.ExprStmt(value=tree.Call(func=tree.Attribute(value=owner, attr=attr), args=args)) if (
                attr in method_words("list_fills")
            ):
                counter = partial(_is_label, program, carrier, loop, numbers, elements, lookup)
                if any(_is_pair_with(arg.value, numbers, counter) for arg in args):
                    yield sink(carrier, "index", statement, "numbers its elements")
                owner = item_of(owner)
                text = _text(owner)
                if _is_made_anew(program, carrier, owner, loop) or _is_kept_by_element(owner, loop):
                    continue
                if text not in filled and isinstance(owner, (tree.Name, tree.Attribute, tree.Subscript)):
                    filled.add(text)
                    yield from order_flow.stored(program, carrier.listed(carrier.node, numbered=False), owner)
            case tree.ExprStmt(value=tree.Call(func=tree.Attribute(attr="setdefault"), args=(key, number)) as call) if (
                _has_element(key.value, elements, lookup)
                and _is_count(program, carrier, number.value, loop, elements, lookup)
            ):
                yield from numbering(program, carrier, call)
            case tree.ExprStmt(value=tree.Yield() as node):
                yield from order_returns.to_callers(program, carrier, node)
            case tree.ExprStmt(value=tree.Call(func=func, args=(_, place, *_))) if called_name(func) == "save":
                counts_up = partial(_counts_up, program, carrier, loop, numbers, elements, lookup)
                if any(map(counts_up, walk([place.value]))) and prepares_samples(program, carrier.facts, loop):
                    yield sink(carrier, "samples", statement, "saves each sample under its position")
        yield from order_dicts.through_filled(program, carrier, loop, statement)
        yield from order_grown.through_grown(program, carrier, loop, statement)
        yield from order_handed.through_handed(program, carrier, loop, statement)


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


def _is_made_anew(program: Program, carrier: Carrier, owner: tree.Expr, loop: tree.For) -> bool:
    """Whether each turn of the loop makes the list that is filled: then it holds nothing of the loop's order."""
    while isinstance(owner, tree.Subscript):
        owner = owner.value
    return isinstance(owner, tree.Name) and "assign" in _bound_in_turns(program, carrier, owner.id, loop)


def _bound_in_turns(program: Program, carrier: Carrier, name: str, loop: tree.For) -> set[str]:
    """How the body of a loop binds a name, by the kinds of its bindings."""
    bindings = scope_around(program, carrier.facts, loop).bindings.get(name, ())
    return {binding.kind for binding in bindings if (loop.site, "body") in binding.path}


def _is_kept_by_element(owner: tree.Expr, loop: tree.For) -> bool:
    """Whether each element has a list of its own: `lists[x].append(...)`, of which none holds the loop's order."""
    match owner, loop.target:
        case tree.Subscript(index=tree.Name(id=key)), tree.Name(id=element):
            return key == element
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


def _mentions(node: tree.Expr, names: set[str], lookup: tree.Subscript | None = None) -> bool:
    """Whether one of the names is in an expression; where elements are looked up, not as the index of a look-up."""
    parts = list(walk([node]))
    looked_up = {id(part.index) for part in parts if isinstance(part, tree.Subscript)} if lookup is not None else set()
    return any(isinstance(part, tree.Name) and part.id in names and id(part) not in looked_up for part in parts)


def _has_element(node: tree.Expr, elements: set[str], lookup: tree.Subscript | None) -> bool:
    looked_up = lookup is not None and any(_is_same_lookup(part, lookup) for part in walk([node]))
    return looked_up or _mentions(node, elements)


def _is_title(node: tree.Expr, elements: set[str], lookup: tree.Subscript | None) -> bool:
    """Whether a number is only written beside its element: `f"{i}: {name}"`."""
    return isinstance(node, tree.FormatString) and _has_element(node, elements, lookup)


def _is_same_lookup(node: Node, lookup: tree.Subscript) -> bool:
    match node, lookup.index:
        case tree.Subscript(value=value, index=tree.Name(id=index)), tree.Name(id=position):
            return node is lookup or (index == position and _text(value) == _text(lookup.value) != "")
    return False


def _is_at_its_position(key: tree.Expr, numbers: set[str]) -> bool:
    """Whether what is filled in goes where the element is: `self.samples[i] = (path, label)`."""
    return isinstance(key, tree.Name) and key.id in numbers


def _is_count(
    program: Program,
    carrier: Carrier,
    value: tree.Expr,
    loop: tree.For,
    elements: set[str],
    lookup: tree.Subscript | None,
) -> bool:
    """Whether a value counts up along the loop: `len(mapping)`, or a counter that the body augments. What each turn
    makes anew, such as a counter that starts again or `len(file)`, is about the element.
    """
    names = _names(value)
    if any(_bound_in_turns(program, carrier, name, loop) - {"augmented"} for name in names):
        return False
    match value:
        case tree.Call(func=tree.Name(id="len")):
            return not _has_element(value, elements, lookup)
        case tree.Name(id=name):
            for statement in own_statements(loop.body):
                match statement:
                    case tree.AugAssign(target=tree.Name(id=counted), op="+", value=tree.Const()) if counted == name:
                        return True
    return False


def _counts_up(
    program: Program,
    carrier: Carrier,
    loop: tree.For,
    numbers: set[str],
    elements: set[str],
    lookup: tree.Subscript | None,
    part: tree.Expr,
) -> bool:
    """Whether a name is that of the position in a loop, or of a counter that its body augments."""
    if not isinstance(part, tree.Name):
        return False
    return part.id in numbers or _is_count(program, carrier, part, loop, elements, lookup)


def _is_label(
    program: Program,
    carrier: Carrier,
    loop: tree.For,
    numbers: set[str],
    elements: set[str],
    lookup: tree.Subscript | None,
    part: tree.Expr,
) -> bool:
    """Whether a counter that the body of a loop augments is a label, by its name."""
    return (
        isinstance(part, tree.Name)
        and function_words("labels").search(part.id) is not None
        and _counts_up(program, carrier, loop, numbers, elements, lookup, part)
    )


def _is_pair_with(node: tree.Expr, numbers: set[str], is_label: Callable[[tree.Expr], bool]) -> bool:
    """Whether a number stands beside something else: `(path, i)`, `(path, label)`, `{"path": path, "label": i}`."""
    match node:
        case tree.Display(items=items):
            return any((isinstance(item, tree.Name) and item.id in numbers) or is_label(item) for item in items)
        case tree.DictDisplay(items=items):
            return any(
                isinstance(key, tree.Const)
                and isinstance(key.value, str)
                and function_words("labels").search(key.value) is not None
                and ((isinstance(value, tree.Name) and value.id in numbers) or is_label(value))
                for key, value in items
            )
    return False


def _text(node: tree.Expr) -> str:
    match node:
        case tree.Name(id=name):
            return name
        case tree.Attribute(value=value, attr=attr):
            return f"{_text(value)}.{attr}"
        case tree.Subscript(value=value, index=index):
            return f"{_text(value)}[{index.value!r}]" if isinstance(index, tree.Const) else f"{_text(value)}[]"
    return ""
