"""What a loop makes longer turn by turn, by giving it a new value: `rows = pd.concat([rows, table])`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.orders import order_callees
from torchrepro_lint.program.orders.order_carriers import Carrier, Step, Stored
from torchrepro_lint.program.orders.order_places import scope_around
from torchrepro_lint.program.orders.order_texts import began_as_text
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_grown"]


def through_grown(program: Program, carrier: Carrier, loop: tree.For, statement: tree.Stmt) -> Iterator[Step]:
    """From a statement in a loop that puts more behind what a name or an attribute holds already. What each turn begins
    anew holds nothing of the loop's order.
    """
    match statement:
        case tree.Assign(targets=((tree.Name() | tree.Attribute()) as target,), value=value) if value is not None:
            grown = _grown(program, carrier, target, value)
            if grown is None and _adds_to_itself(value, target) and _began_as_list(program, carrier, loop, target):
                grown = carrier.listed(value, numbered=False)
            if grown is not None and not _begins_anew(program, carrier, loop, target):
                yield Stored(replace(grown, node=carrier.node), target)
            elif _adds_to_itself(value, target) and _is_growing_text(program, carrier, loop, target):
                yield Stored(carrier.as_text(carrier.node), target)
        case tree.AugAssign(target=target, op="+", value=tree.Call() | tree.Name() | tree.Binary()) if _began_as_list(
            program, carrier, loop, target
        ) and not _begins_anew(program, carrier, loop, target):
            yield Stored(carrier.listed(carrier.node, numbered=False), target)
        case tree.AugAssign(target=target, op="+") if _is_growing_text(program, carrier, loop, target):
            yield Stored(carrier.as_text(carrier.node), target)


def _is_growing_text(program: Program, carrier: Carrier, loop: tree.For, target: tree.Expr) -> bool:
    return began_as_text(program, carrier, loop, target) and not _begins_anew(program, carrier, loop, target)


def _began_as_list(program: Program, carrier: Carrier, loop: tree.For, target: tree.Expr) -> bool:
    """Whether a name or an attribute holds a list before a loop, `found = []`, which may become longer in its turns."""
    scope = scope_around(program, carrier.facts, loop)
    match target:
        case tree.Name(id=name):
            bindings, _ = scope.reaching(name, loop.site)
            nodes = [one.node for one in bindings if one.kind == "assign" and not one.unpack]
        case tree.Attribute():
            nodes = [one.value for one in scope.stores if one.target.site < loop.site and _is_same(one.target, target)]
        case _:
            nodes = []
    return any(_is_list(node) for node in nodes)


def _is_list(node: object) -> bool:
    match node:
        case tree.Display(kind="list") | tree.Comprehension(kind="list"):
            return True
        case tree.Call(func=tree.Name(id="list" | "sorted")):
            return True
    return False


def _adds_to_itself(value: tree.Expr, target: tree.Expr) -> bool:
    """Whether a value is what `target` holds with more behind it: `text + line + "\n"`."""
    while isinstance(value, tree.Binary) and value.op == "+":
        value = value.left
        if _is_same(value, target):
            return True
    return False


def _grown(program: Program, carrier: Carrier, target: tree.Expr, value: tree.Expr) -> Carrier | None:
    """What has the order of the loop where `value` is what `target` holds with more behind it."""
    match value:
        case tree.Binary(op="+", left=left, right=tree.Display(kind="list") | tree.Comprehension(kind="list")):
            return carrier.listed(value, numbered=False) if _is_same(left, target) else None
        case tree.Call(args=(first, *rest)) if any(_is_same(part, target) for part in _joined(first)):
            names = order_callees.names_called(program, order_callees.called(program, carrier, value))
            if any(not _is_first_axis(arg) for arg in rest if arg.keyword in ("axis", "dim")):
                return None
            if names & ordering_names("joins_rows"):
                return replace(carrier.listed(value, numbered=False), rows=True)
            if names & ordering_names("joins_arrays") and all(arg.keyword or _is_first_axis(arg) for arg in rest):
                return carrier.listed(value, numbered=False)
    return None


def _joined(first: tree.Arg) -> tuple[tree.Expr, ...]:
    match first:
        case tree.Arg(value=tree.Display(items=items)):
            return items
    return ()


def _is_first_axis(arg: tree.Arg) -> bool:
    return isinstance(arg.value, tree.Const) and arg.value.value == 0


def _is_same(one: tree.Expr, other: tree.Expr) -> bool:
    """Whether two expressions are the same name, or the same attribute of the same name."""
    match one, other:
        case tree.Name(id=name), tree.Name(id=other_name):
            return name == other_name
        case tree.Attribute(value=owner, attr=attr), tree.Attribute(value=other_owner, attr=other_attr):
            return attr == other_attr and _is_same(owner, other_owner)
    return False


def _begins_anew(program: Program, carrier: Carrier, loop: tree.For, target: tree.Expr) -> bool:
    """Whether a turn gives `target` a value that holds nothing of the turns before, unless that is the first turn."""
    first: set[int] = set()
    for statement in own_statements(loop.body):
        match statement:
            case tree.If(test=test, body=body, orelse=orelse) if _is_first_turn(test, target):
                arms = list(own_statements((*body, *orelse)))
                if any(_grows(program, carrier, one, target) for one in arms):
                    first.update(map(id, arms))
            case tree.For(target=inner) if any(_is_same(part, target) for part in walk([inner])):
                return True
            case tree.Assign(targets=targets) if any(_is_same(part, target) for part in walk(targets)):
                if id(statement) not in first and not _grows(program, carrier, statement, target):
                    return True
    return False


def _grows(program: Program, carrier: Carrier, statement: tree.Stmt, target: tree.Expr) -> bool:
    match statement:
        case tree.Assign(targets=(one,), value=value) if value is not None and _is_same(one, target):
            return _adds_to_itself(value, target) or _grown(program, carrier, target, value) is not None
    return False


def _is_first_turn(test: tree.Expr, target: tree.Expr) -> bool:
    """Whether a condition asks if there is something in `target` yet, or if the position is 0."""
    parts = list(walk([test]))
    return any(_is_same(part, target) or (isinstance(part, tree.Const) and part.value == 0) for part in parts)
