"""Lists and dicts of an object that a loop fills by a method: `for name in names: self.add(name)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.call_words import function_called
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.orders import order_callees, order_dicts
from torchrepro_lint.program.orders.order_carriers import Carrier, Step, Stored
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_handed"]


def through_handed(program: Program, carrier: Carrier, loop: tree.For, statement: tree.Stmt) -> Iterator[Step]:
    """From a statement in a loop that hands each turn's element to a method, to the attributes that this one fills."""
    match statement:
        case tree.ExprStmt(value=tree.Call(args=args) as call) if args:
            names = {part.id for part in walk([arg.value for arg in args]) if isinstance(part, tree.Name)}
            called = called_name(call.func)
            if called in method_words("list_fills") and not program.project.matching(function_called(called)):
                return  # `found.append(x)`, of no class of the project
            if names & order_dicts.varied_names(loop):
                yield from _into_attributes(program, carrier, call)


def _into_attributes(program: Program, carrier: Carrier, call: tree.Call) -> Iterator[Step]:
    listed = carrier.listed(carrier.node, numbered=False)
    at = Site(carrier.facts.path, call.site)
    for value in order_callees.called(program, carrier, call):
        function, _ = order_callees.function_of(program, value)
        if function is None or not isinstance(function.node, tree.FunctionDef) or function.name == "__init__":
            continue  # an object that each turn makes has lists of its own
        scope = program.ev.function_scope(function)
        own = scope.self_name
        given = {param.name for param in function.node.params} - {own}
        inside = listed.hop(function.frame.facts, carrier.node, at, f"passes each to {function.name}()")
        for statement in own_statements(function.node.body):
            match statement:
                case tree.ExprStmt(
                    value=tree.Call(
                        func=tree.Attribute(
                            value=tree.Attribute(value=tree.Name(id=name), attr=filled) as owner, attr=attr
                        )
                    )
                ) if name == own and attr in method_words("list_fills") and f"self.{filled}" not in scope.bindings:
                    yield Stored(inside, owner)
                case tree.Assign(targets=(tree.Subscript(value=tree.Attribute(value=tree.Name(id=name))),)) if (
                    name == own
                ):
                    yield from order_dicts.through_put(program, inside, statement, given, statement)
