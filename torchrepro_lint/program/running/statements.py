"""The blocks that a statement has inside, and the statements in them."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.facts import tree

__all__ = ["blocks_of", "own_statements"]


def blocks_of(statement: tree.Stmt) -> Iterator[tree.Block]:
    """The blocks inside a statement, those of functions and classes included."""
    match statement:
        case (
            tree.If(body=body, orelse=orelse)
            | tree.For(body=body, orelse=orelse)
            | tree.While(body=body, orelse=orelse)
        ):
            yield body
            yield orelse
        case tree.With(body=body) | tree.FunctionDef(body=body) | tree.ClassDef(body=body):
            yield body
        case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
            yield body
            for handler in handlers:
                yield handler.body
            yield orelse
            yield final
        case tree.Match(cases=cases):
            for case in cases:
                yield case.body


def own_statements(block: tree.Block) -> Iterator[tree.Stmt]:
    """The statements of a block and of all blocks inside it, in the order of the text; not those of inner scopes."""
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        yield statement
        if not isinstance(statement, (tree.FunctionDef, tree.ClassDef)):
            pending.extend(reversed([inner for body in blocks_of(statement) for inner in body]))
