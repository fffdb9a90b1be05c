"""Numbers that a set is to do without, `ids.discard(-1)` and `ids - {0}`: it holds numbers, whatever it is called."""

from __future__ import annotations

from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.parents import Parents

__all__ = ["does_without_a_number"]

_TAKES_OUT: Final = frozenset({"discard", "remove"})


def does_without_a_number(parents: Parents, node: tree.Expr) -> bool:
    """Whether a number is taken out of a set, where it is made or where the name is used that it is given."""
    match node:
        case tree.Binary(op="-", right=tree.Display(kind="set", items=items)) if any(map(_is_number, items)):
            return True
    match parents.target_of(node):
        case tree.Name(id=name) as target:
            function = parents.function(target)
            uses = (use for use in parents.names_in(name, function) if parents.function(use) is function)
            return any(_is_rid_of_a_number(parents, use) for use in uses)
    return False


def _is_rid_of_a_number(parents: Parents, use: tree.Name) -> bool:
    method = parents.of(use)
    match parents.of(method) if method is not None else None:
        case tree.Call(func=tree.Attribute(attr=attr) as func, args=(arg,)) if func is method and attr in _TAKES_OUT:
            return _is_number(arg.value)
    return False


def _is_number(node: tree.Expr) -> bool:
    match node:
        case tree.Unary(op="-", operand=operand):
            return _is_number(operand)
        case tree.Const(value=value):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
    return False
