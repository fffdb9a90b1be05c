"""libcst's parser, without two refusals of what Python takes.

libcst (seen in 1.9.0) checks that a space is between a word and what stands beside it unless that is in parentheses,
and looks for these in the wrong place where it is a conditional expression or a lambda: `return(a if b else c)` and
`not(lambda: 1)` do not parse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import libcst as cst

__all__ = ["parse_module"]

#: The private check. A libcst without it is left as it is.
_CHECK: Final = "_safe_to_use_with_word_operator"


def parse_module(text: str) -> cst.Module:
    """The tree of a text. Raises libcst.ParserSyntaxError where it is no Python, or libcst cannot represent it."""
    _look_for_parentheses()
    try:
        return cst.parse_module(text)
    except (cst.CSTValidationError, TypeError) as error:
        # The tree is refused when its nodes are made, in Python: where in the text is not said.
        raise cst.ParserSyntaxError(str(error), lines=[text], raw_line=1, raw_column=0) from error


@cache
def _look_for_parentheses() -> None:
    for kind in (cst.IfExp, cst.Lambda):
        check = getattr(kind, _CHECK, None)
        if check is not None:
            setattr(kind, _CHECK, _or_parenthesized(check))


def _or_parenthesized(needs_no_space: Callable[..., bool]) -> Callable[..., bool]:
    def needs_none(self: cst.BaseExpression, position: object) -> bool:
        return bool(self.lpar) or needs_no_space(self, position)

    return needs_none
