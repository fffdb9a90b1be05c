"""Conditions that ask whether the user gives a seed, and of what number: whether a run with a seed takes an arm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.if_tests import says
from torchrepro_lint.program.running.ways import Waypoint

__all__ = ["asks_for_the_seed", "is_for_any_seed", "is_passed"]


def is_passed(waypoint: Waypoint, arm: tuple[int, str]) -> bool:
    """Whether the run takes an arm wherever a seed is given: that of `if args.seed is not None:`, or the first of a
    `try`.
    """
    if arm[1] == "try":
        return True
    statement = waypoint.scope.branches.get(arm[0])
    if not isinstance(statement, tree.If):
        return False
    match statement.test:
        case tree.Compare(left=tree.Name(id="__name__")):
            return arm[1] == "then"
    return asks_for_the_seed(waypoint, statement.test, arm[1] == "then")


def asks_for_the_seed(waypoint: Waypoint, test: tree.Expr, holds: bool) -> bool:
    """Whether a test holds, or does not, wherever a seed is given: it asks for one of the arguments of the call, or for
    what is called a seed.
    """
    if says(test, holds, function_words("is_a_seed")) is True:
        return True
    call = waypoint.scope.call_at(waypoint.site)
    names = sorted({name for arg in call.args for name in _last_names(arg.value)}) if call is not None else []
    return bool(names) and says(test, holds, re.compile(rf"\A(?:{'|'.join(map(re.escape, names))})\Z")) is True


def _last_names(node: tree.Expr) -> Iterator[str]:
    """How what is read in a seed is called: `seed` for `int(args.seed)`."""
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name) | tree.Subscript(index=tree.Const(value=str() as name)):
            yield name
        case tree.Binary(left=left, right=right):
            yield from _last_names(left)
            yield from _last_names(right)
        case tree.Call(func=tree.Name(id="int"), args=(tree.Arg(value=value),)):
            yield from _last_names(value)


def is_for_any_seed(waypoint: Waypoint, arm: tuple[int, str]) -> bool:
    """Whether the run takes an arm with any seed, be it 0, which may stand for none: `if seed is not None:`."""
    if not is_passed(waypoint, arm):
        return False
    match waypoint.scope.branches.get(arm[0]):
        case tree.If(test=tree.Compare(comparators=comparators)):
            return all(isinstance(one, tree.Const) and isinstance(one.value, str | None) for one in comparators)
        case tree.If():
            return False
    return True
