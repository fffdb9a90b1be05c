"""The blocks that a statement has inside, the one that it is in, and the statements in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts

if TYPE_CHECKING:
    from torchrepro_lint.program.running.parents import Node, Parents

__all__ = ["block_of", "blocks_of", "own_statements"]


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


def block_of(parents: Parents, facts: ModuleFacts, statement: Node) -> tree.Block:
    """The block in which a statement of the file is."""
    match parents.of(statement):
        case None:
            return facts.body
        case tree.Handler(body=body) | tree.Case(body=body):
            return body
        case around:
            blocks = blocks_of(around)  # type: ignore[arg-type]
            return next(block for block in blocks if any(one is statement for one in block))


def own_statements(block: tree.Block) -> Iterator[tree.Stmt]:
    """The statements of a block and of all blocks inside it, in the order of the text; not those of inner scopes."""
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        yield statement
        if not isinstance(statement, (tree.FunctionDef, tree.ClassDef)):
            pending.extend(reversed([inner for body in blocks_of(statement) for inner in body]))
