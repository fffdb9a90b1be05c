"""The statements of a file: all of them in the order of the text, and the loops by their sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["blocks_of", "loops_of", "statements_of"]


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


def statements_of(block: tree.Block) -> Iterator[tree.Stmt]:
    """The statements of a block and of all blocks inside it, outer ones first."""
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        yield statement
        pending.extend(reversed([inner for body in blocks_of(statement) for inner in body]))


def loops_of(ev: Evaluator, facts: ModuleFacts) -> Mapping[int, tree.For | tree.While]:
    """The loops of a file by their sites."""
    return ev.remembered(
        ("loops", id(facts)),
        lambda: {one.site: one for one in statements_of(facts.body) if isinstance(one, (tree.For, tree.While))},
        {},
    )
