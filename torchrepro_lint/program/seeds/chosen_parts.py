"""Which parts of a model something is done to: what is asked of them first, and which of them a loop goes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.guards import Place, left_before

__all__ = ["Asked", "asked_around", "iterated", "speaks_of_dropout", "tests_of_iterated"]

_DROPOUT: Final = function_words("says_dropout")


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A test on which something hangs, with the outcome it has there; `site` is that of its statement, or of the scope
    that is an expression.
    """

    site: int
    test: tree.Expr
    holds: bool

    @property
    def leaves_out(self) -> bool:
        """Whether a test with this outcome only leaves some out: what is no normalization, `name != "head"`."""
        match self.test:
            case tree.Compare(ops=("!=" | "not in" | "is not",)):
                return self.holds
        return not self.holds


def asked_around(facts: ModuleFacts, scope: Scope, node: tree.Expr, arms: ArmPath) -> Iterator[Asked]:
    """The tests on which it hangs that an expression is evaluated."""
    place = Place(facts, scope, arms, Site(facts.path, node.site))
    for branch, arm in arms:
        match scope.branches.get(branch):
            case tree.If(test=test):
                yield from _parts(branch, test, arm == "then")
    for guard in left_before(place):
        if guard.arm is not None:
            yield from _parts(guard.arm[0], guard.test, guard.holds)
    match scope.node:
        case tree.Lambda(body=body):
            yield from _before(body, node)
        case tree.Comprehension(element=element):
            yield from _conditions(scope.node)
            yield from _before(element, node)


def _before(root: tree.Expr, node: tree.Expr) -> Iterator[Asked]:
    """The tests of `a if b else c` and of `b and a` in an expression after which a part of it is evaluated."""
    for part in walk([root]):
        match part:
            case tree.Conditional(test=test, body=body, orelse=orelse):
                arms = [(test, True, body), (test, False, orelse)]
            case tree.Boolean(op=op, left=left, right=right):
                arms = [(left, op == "and", right)]
            case _:
                continue
        for test, holds, arm in arms:
            if any(inner is node for inner in walk([arm])):
                yield from _parts(END, test, holds)


def _conditions(one: tree.Comprehension) -> Iterator[Asked]:
    for clause in one.clauses:
        for condition in clause.conditions:
            yield from _parts(END, condition, True)


def tests_of_iterated(iterated: tree.Expr) -> Iterator[Asked]:
    """What is asked of the items of what a loop goes through: `[m for m in net.modules() if ...]`, `filter(...)`."""
    for part in walk([iterated]):
        match part:
            case tree.Comprehension():
                yield from _conditions(part)
            case tree.Lambda(body=body):
                yield from _parts(END, body, True)


def iterated(scope: Scope, owner: tree.Name) -> Iterator[tree.Expr]:
    """What the loops go through that bind a name, also if it has a name of its own."""
    for binding in scope.reaching(owner.id, owner.site)[0]:
        if binding.kind == "element":
            yield scope.behind(binding.node)  # type: ignore[arg-type]


def _parts(site: int, test: tree.Expr, holds: bool) -> Iterator[Asked]:
    """The parts of a test that `and`, `or` and `not` join, with the outcome that speaks for that of the whole."""
    match test:
        case tree.Unary(op="not", operand=operand):
            yield from _parts(site, operand, not holds)
        case tree.Boolean(left=left, right=right):
            yield from _parts(site, left, holds)
            yield from _parts(site, right, holds)
        case _:
            yield Asked(site, test, holds)


def speaks_of_dropout(test: tree.Expr) -> bool:
    """Whether a test has dropout in a name or a text: `isinstance(m, nn.Dropout)`, `name.startswith("Dropout")`."""
    for part in walk([test]):
        match part:
            case tree.Name(id=str(text)) | tree.Attribute(attr=str(text)) | tree.Const(value=str(text)):
                if _DROPOUT.search(text) is not None:
                    return True
    return False
