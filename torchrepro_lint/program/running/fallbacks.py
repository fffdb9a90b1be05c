"""Calls that are made where an older release of a library refuses an argument, or another call fails."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.parents import Node, Parents

__all__ = ["handled_by", "stands_in_for", "tried_in"]

_WITH_VALUE = (tree.Assign, tree.ExprStmt, tree.Return)


def stands_in_for(parents: Parents, call: tree.Call, keyword: str) -> bool:
    """Whether a call is in `except TypeError:`, and the `try` makes the same call with the argument `keyword`: it
    is for releases that do not know it.
    """
    inner: tree.Expr | tree.Handler = call
    for above in parents.around(call):
        if isinstance(above, tree.Handler):
            inner = above
        elif isinstance(above, tree.Try) and isinstance(inner, tree.Handler) and _catches_type_errors(inner):
            tried = [statement.value for statement in above.body if isinstance(statement, _WITH_VALUE)]
            if any(_gives(node, called_name(call.func), keyword) for node in walk(filter(None, tried))):
                return True
        elif isinstance(above, tree.FunctionDef | tree.Lambda):
            return False
    return False


def tried_in(parents: Parents, node: tree.Expr) -> Iterator[tree.Try]:
    """The `try` statements of the function around an expression in whose body it is."""
    yield from (one for one, inner in _tries(parents, node) if inner in one.body)


def handled_by(parents: Parents, node: tree.Expr) -> Iterator[tree.Try]:
    """Those in one of whose handlers it is."""
    yield from (one for one, inner in _tries(parents, node) if isinstance(inner, tree.Handler))


def _tries(parents: Parents, node: tree.Expr) -> Iterator[tuple[tree.Try, Node]]:
    """The `try` statements around an expression, each with the part that it is in, as far as its function goes."""
    inner: Node = node
    for above in parents.around(node):
        if isinstance(above, tree.FunctionDef | tree.Lambda):
            return
        if isinstance(above, tree.Try):
            yield above, inner
        inner = above


def _catches_type_errors(handler: tree.Handler) -> bool:
    kinds = handler.type.items if isinstance(handler.type, tree.Display) else (handler.type,)
    return any(isinstance(kind, tree.Name) and kind.id == "TypeError" for kind in kinds)


def _gives(node: object, name: str | None, keyword: str) -> bool:
    return (
        isinstance(node, tree.Call)
        and called_name(node.func) == name
        and any(argument.keyword == keyword for argument in node.args)
    )
