"""What the `if` statements around a place test, and what a test says about a name when it holds or does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import words_in
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope

__all__ = ["says", "tests_around"]

_NO = frozenset({None, False, -1, ""})  # 0 is False


def tests_around(scope: Scope, path: ArmPath) -> Iterator[tuple[tree.Expr, bool]]:
    """The tests of the `if` statements around a place, each with whether it holds in the arm of the place."""
    for branch, arm in path:
        statement = scope.branches.get(branch)
        if isinstance(statement, tree.If):
            yield statement.test, arm == "then"


def says(test: tree.Expr, holds: bool, word: re.Pattern[str]) -> bool | None:
    """What a test that holds, or does not hold, implies for a name that contains `word`: true, false, or nothing."""
    match test:
        case tree.Unary(op="not", operand=operand):
            return says(operand, not holds, word)
        case tree.Boolean(op=op, left=left, right=right):
            if (op == "and") is not holds:
                return None  # one of the two sides, it is not known which
            answer = says(left, holds, word)
            return answer if answer is not None else says(right, holds, word)
        case tree.Compare(left=left, ops=(op,), comparators=(right,)):
            return _compared(left, op, right, holds, word)
        case tree.Name() | tree.Attribute() | tree.Subscript() | tree.Call():
            return holds if any(word.search(name) for name in words_in([test])) else None
    return None


def _compared(left: tree.Expr, op: str, right: tree.Expr, holds: bool, word: re.Pattern[str]) -> bool | None:
    value = _constant(right)
    if isinstance(value, str) and word.search(value) and op in ("==", "!="):
        return (op == "==") is holds  # `mode == "deterministic"`
    about = says(left, True, word)
    if about is None or value is _NO:
        return None
    match op:
        case "is" | "==":
            return (value not in _NO) is holds
        case "is not" | "!=":
            return (value in _NO) is holds
        case ">" | ">=":
            return holds
        case "<" | "<=":
            return not holds
    return None


def _constant(node: tree.Expr) -> object:
    """The literal, or `_NO` itself where it is none."""
    match node:
        case tree.Const(value=value):
            return value
        case tree.Unary(op="-", operand=tree.Const(value=int() | float() as number)):
            return -number
    return _NO
