"""libcst's parser, without two refusals of what Python takes.

libcst checks that a space is between a word and what stands beside it unless that is in parentheses, and looks for
these in the wrong place where it is a conditional expression or a lambda: `return(a if b else c)` and `not(lambda: 1)`
do not parse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import libcst as cst

__all__ = ["parse_module"]


def parse_module(text: str) -> cst.Module:
    """The tree of a text. Raises libcst.ParserSyntaxError where it is no Python."""
    _look_for_parentheses()
    return cst.parse_module(text)


@cache
def _look_for_parentheses() -> None:
    for kind in (cst.IfExp, cst.Lambda):
        kind._safe_to_use_with_word_operator = _or_parenthesized(kind._safe_to_use_with_word_operator)  # type: ignore[method-assign]


def _or_parenthesized(needs_no_space: Callable[..., bool]) -> Callable[..., bool]:
    def needs_none(self: cst.BaseExpression, position: object) -> bool:
        return bool(self.lpar) or needs_no_space(self, position)

    return needs_none
