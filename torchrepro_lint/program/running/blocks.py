"""What a block of statements holds, those of inner blocks included, those of inner functions and classes not."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.bodies import statement_expressions
from torchrepro_lint.program.running.statements import own_statements

__all__ = ["expressions_in", "loops_in", "simple_expressions_in"]


def loops_in(block: tree.Block) -> Iterator[tree.For | tree.While]:
    """The loops in a block, in the order of the text."""
    for statement in block:
        match statement:
            case tree.For(body=body, orelse=orelse) | tree.While(body=body, orelse=orelse):
                yield statement
                yield from loops_in(body)
                yield from loops_in(orelse)
            case tree.If(body=body, orelse=orelse):
                yield from loops_in(body)
                yield from loops_in(orelse)
            case tree.With(body=body):
                yield from loops_in(body)
            case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                for inner in (body, *(handler.body for handler in handlers), orelse, final):
                    yield from loops_in(inner)
            case tree.Match(cases=cases):
                for case in cases:
                    yield from loops_in(case.body)


def expressions_in(block: tree.Block) -> Iterator[tree.Expr]:
    """The outermost expressions of the statements in a block, in the order of the text."""
    for statement in block:
        match statement:
            case tree.Assign(targets=targets, value=value):
                yield from targets
                if value is not None:
                    yield value
            case tree.AugAssign(target=target, value=value):
                yield target
                yield value
            case tree.ExprStmt(value=value):
                yield value
            case tree.Return(value=value) | tree.Raise(value=value) if value is not None:
                yield value
            case tree.If(test=test, body=body, orelse=orelse) | tree.While(test=test, body=body, orelse=orelse):
                yield test
                yield from expressions_in(body)
                yield from expressions_in(orelse)
            case tree.For(target=target, iter=iterated, body=body, orelse=orelse):
                yield target
                yield iterated
                yield from expressions_in(body)
                yield from expressions_in(orelse)
            case tree.With(items=items, body=body):
                yield from (context for context, _ in items)
                yield from expressions_in(body)
            case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                for inner in (body, *(handler.body for handler in handlers), orelse, final):
                    yield from expressions_in(inner)
            case tree.Match(cases=cases):
                for case in cases:
                    yield from expressions_in(case.body)


def simple_expressions_in(block: tree.Block) -> Iterator[tree.Expr]:
    """What the simple statements of a block, and of all blocks inside it, evaluate: no tests and iterables."""
    for statement in own_statements(block):
        yield from statement_expressions(statement)
        if isinstance(statement, tree.Return) and statement.value is not None:
            yield statement.value
