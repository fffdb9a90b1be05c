"""Findings in the arms of one `if`, of which a run takes one: all of them are fixed, or none.

    if args.big:
        loader = DataLoader(images, shuffle=True)  # fixed
    else:
        loader = DataLoader(patches, shuffle=True, **rest)  # cannot be fixed

Who sees that the first is fixed takes the program for repeatable, and half of its runs would not be.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from torchrepro_lint.diagnostics import Finding

__all__ = ["beside_an_unfixed_arm"]

#: The arms around a row of the text, from the outside in: the row of the `if`, and whether it is the first arm.
_Arms: TypeAlias = tuple[tuple[int, bool], ...]
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
#: What is reported of loaders, samplers, splits and generators; a switch in one arm may be right in the other.
_FAMILIES = ("TRL1", "TRL2")


def beside_an_unfixed_arm(text: str, fixed: Sequence[Finding], left: Iterable[Finding]) -> list[Finding]:
    """Those of the findings to be fixed in a text that have one of the same rule, which is left, in another arm."""
    of_one_rule = [(one, other) for other in left for one in fixed if one.code == other.code]
    pairs = [(one, other) for one, other in of_one_rule if one.code.startswith(_FAMILIES)]
    if not pairs:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user's own invalid escapes are not ours to report
        try:
            arms = dict(_arms_in(ast.parse(text).body, ()))
        except (SyntaxError, ValueError):  # cells that await, or a form that only libcst reads
            return []
    found = {id(one): one for one, other in pairs if _exclude_each_other(arms, one, other)}
    return list(found.values())


def _exclude_each_other(arms: Mapping[int, _Arms], one: Finding, other: Finding) -> bool:
    own = dict(arms.get(one.location.start.row, ()))
    return any(own.get(row, is_first) != is_first for row, is_first in arms.get(other.location.start.row, ()))


def _arms_in(block: Sequence[ast.stmt], around: _Arms) -> Iterator[tuple[int, _Arms]]:
    """The arms around each row of a block; the inner ones of a row come later."""
    for statement in block:
        yield from ((row, around) for row in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
        if isinstance(statement, ast.If):
            yield from _arms_in(statement.body, (*around, (statement.lineno, True)))
            yield from _arms_in(statement.orelse, (*around, (statement.lineno, False)))
            if not statement.orelse and isinstance(statement.body[-1], _LEAVES):
                around = (*around, (statement.lineno, False))
            continue
        for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for name in ("body", "orelse", "finalbody"):
                yield from _arms_in(getattr(part, name, ()), around)
