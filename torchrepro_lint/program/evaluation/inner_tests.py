"""The tests inside an expression that decide what of it is evaluated: of `a if b else c`, the left of `and`, `or`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.frames import Frame

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["options_of", "tests_inside"]

#: A test, and whether it must hold.
Asked: TypeAlias = tuple[tree.Expr, bool]


def options_of(ev: Evaluator, node: tree.Conditional | tree.Boolean, frame: Frame) -> tuple[tree.Expr, ...]:
    """The parts of an expression that its value may be, without those that are proven not to be taken."""
    if isinstance(node, tree.Conditional):
        first, second, holds = node.body, node.orelse, ev.truth(node.test, frame)
    else:
        first, second, holds = node.left, node.right, ev.truth(node.left, frame)
        if holds is not None and node.op == "and":
            holds = not holds
    return (first, second) if holds is None else (first,) if holds else (second,)


def tests_inside(ev: Evaluator, facts: ModuleFacts, site: int) -> tuple[Asked, ...]:
    """The tests in an expression after which the call at `site` is made."""
    return ev.of_text(("inner-tests", id(facts)), lambda: _inner_tests(facts)).get(site, ())


def _inner_tests(facts: ModuleFacts) -> dict[int, tuple[Asked, ...]]:
    found: dict[int, tuple[Asked, ...]] = {}

    def visit(node: tree.Expr, tests: tuple[Asked, ...]) -> None:
        if isinstance(node, tree.Call) and tests:
            found[node.site] = tests
        match node:
            case tree.Conditional(test=test, body=body, orelse=orelse):
                visit(test, tests)
                visit(body, (*tests, (test, True)))
                visit(orelse, (*tests, (test, False)))
            case tree.Boolean(op=op, left=left, right=right):
                visit(left, tests)
                visit(right, (*tests, (left, op == "and")))
            case tree.Lambda(body=body):
                visit(body, ())
            case tree.Comprehension(key=key, element=element, clauses=clauses):
                for clause in clauses:
                    visit(clause.iter, tests)
                for part in (key, element):
                    if part is not None:
                        visit(part, tests)
            case _:
                for part in sub_expressions(node):
                    visit(part, tests)

    for scope in facts.walk_scopes():
        for expression in _roots(scope):
            visit(expression, ())
    return found


def _roots(scope: Scope) -> Iterator[tree.Expr]:
    """Expressions that hold all conditional ones of the scope: what is bound, stored, returned, handed to calls, and
    what its branches and loops test.
    """
    for bindings in scope.bindings.values():
        for binding in bindings:
            if binding.kind in ("assign", "element", "context") and binding.node is not None:
                yield binding.node  # type: ignore[misc]
    for store in scope.stores:
        yield store.value
    for statement, _ in scope.returns:
        if statement.value is not None:
            yield statement.value
    for branch in scope.branches.values():
        if isinstance(branch, (tree.If, tree.While)):
            yield branch.test
    for call, _ in scope.calls:
        for arg in call.args:
            yield arg.value
