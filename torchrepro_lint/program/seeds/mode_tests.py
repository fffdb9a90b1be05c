"""Whether a value depends on the mode of a model, training or evaluation: `p if self.training else 0.0`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions, words_in
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Query
from torchrepro_lint.program.evaluation.frames import Frame

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["follows_mode", "tests_mode"]


def follows_mode(ev: Evaluator, node: tree.Expr, frame: Frame) -> bool:
    """Whether the mode is asked where the value of an expression is chosen or computed, or may be, as there is more of
    that than is looked at.
    """
    return _Modes(ev, beyond=True).of(node, frame) is True


def tests_mode(test: tree.Expr) -> bool:
    """Whether a test asks for the mode, by the names in it."""
    return any(map(function_words("says_mode").search, words_in([test])))


class _Modes(Backward[bool]):
    """Where the mode comes in."""

    def source(self, query: Query) -> bool | None:
        """A name of the mode, a choice by a test that asks for it, or a name that gets a value under such a test."""
        match query.node:
            case tree.Conditional(test=test) if tests_mode(test):
                return True
            case tree.Boolean() as choice if tests_mode(choice):
                return True
            case tree.Attribute(attr=word) if function_words("says_mode").search(word):
                return True
            case tree.Name(id=name):
                if function_words("says_mode").search(name) or _is_bound_by_mode(query, name):
                    return True
        return None

    def made(self, query: Query) -> bool | None:
        """The mode in what an operation makes its result of."""
        return next((True for one in self.operands(query, sub_expressions(query.node)) if one), None)


def _is_bound_by_mode(query: Query, name: str) -> bool:
    """Whether a name gets one of its values in an arm of an `if` that asks for the mode."""
    scope = query.frame.scope
    return any(
        isinstance(statement := scope.branches.get(branch), tree.If) and tests_mode(statement.test)
        for binding in scope.bindings.get(name, ())
        for branch, _ in binding.path
    )
