"""The arguments of an operation as they are written, and the numbers that they are."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.values import Constant, SequenceValue, Values
from torchrepro_lint.program.ops.operations import Operation

__all__ = ["argument_of", "numbers_of", "unmoved"]


def argument_of(operation: Operation, name: str, position: int) -> tree.Expr | None:
    """The expression for a parameter, whose `position` is counted without the tensor operated upon."""
    shift = 0 if operation.is_method or operation.is_module else 1
    for place, arg in enumerate(operation.args):
        if arg.star:
            return None
        if arg.keyword == name or (arg.keyword is None and place == position + shift):
            return arg.value
    return None


def numbers_of(values: Values) -> list[int]:
    """The integers that one value is or consists of; none where that is not known."""
    value = next(iter(values)) if len(values) == 1 else None
    if isinstance(value, Constant) and type(value.value) is int:
        return [value.value]
    if isinstance(value, SequenceValue) and value.items:
        parts = [numbers_of(item) for item in value.items]
        return [part[0] for part in parts] if all(len(part) == 1 for part in parts) else []
    return []


def unmoved(node: tree.Expr) -> tree.Expr:
    """An expression without `.to(...)`, `.cuda()`, `.long()` and the like after it."""
    moves = method_words("tensor_moves")
    while isinstance(node, tree.Call) and isinstance(node.func, tree.Attribute) and node.func.attr in moves:
        node = node.func.value
    return node
