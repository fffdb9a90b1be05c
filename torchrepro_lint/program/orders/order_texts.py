"""Texts that are put together in the order of a list, and the tokens that they are turned into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, MethodValue, Value
from torchrepro_lint.program.orders.order_places import scope_around

if TYPE_CHECKING:
    from torchrepro_lint.program.orders.order_carriers import Carrier
    from torchrepro_lint.program.program import Program

__all__ = ["began_as_text", "joins_text", "through_encoder"]


def joins_text(call: tree.Call) -> bool:
    """Whether a call is `"\\n".join(parts)`, and no `os.path.join(...)`."""
    match call.func:
        case tree.Attribute(value=tree.Const(value=str() | bytes()), attr="join"):
            return len(call.args) == 1
    return False


def began_as_text(program: Program, carrier: Carrier, loop: tree.For, target: tree.Expr) -> bool:
    """Whether a name holds a text before a loop, `text = ""`, which may become longer in its turns."""
    if not isinstance(target, tree.Name):
        return False
    bindings, _ = scope_around(program, carrier.facts, loop).reaching(target.id, loop.site)
    return any(isinstance(one.node, tree.Const) and isinstance(one.node.value, (str, bytes)) for one in bindings)


def through_encoder(
    carrier: Carrier, call: tree.Call, arg: tree.Arg, word: str, values: Iterable[Value]
) -> Iterator[Carrier]:
    """From a text, or a list, to the tokens that a library, or a short function of the project, makes of it in turn."""
    own = [value for value in values if isinstance(value, (FunctionValue, MethodValue, ClassValue))]
    if not own and word in ordering_names("encodes", "words") and arg is call.args[0] and arg.keyword is None:
        yield replace(carrier.listed(call), text=False)
    if any(isinstance(value, FunctionValue) and _goes_through(value.node, call, arg) for value in own):
        yield replace(carrier.listed(call), text=False)


def _goes_through(function: tree.FunctionDef | tree.Lambda, call: tree.Call, arg: tree.Arg) -> bool:
    """Whether a lambda gives a list with something for each element of its only parameter: `[ids[c] for c in text]`."""
    match function:
        case tree.Lambda(params=(param,), body=tree.Comprehension(kind="list" | "generator", clauses=(first, *_))) if (
            call.args == (arg,)
        ):
            return isinstance(first.iter, tree.Name) and first.iter.id == param.name
    return False
