"""The arguments that a call passes: which of them reaches a parameter, and another value for one."""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.document import Document, dotted_name

__all__ = ["given", "is_given", "is_what_is_kept", "replace_argument"]


def replace_argument(document: Document, argument: cst.Arg, value_text: str) -> Edit:
    """Give an argument a different value; its keyword, comma and comments stay."""
    start, end = document.outer_span(argument.value)
    return document.replacement(start, end, value_text)


def given(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """The argument that reaches a parameter: by keyword, or as the positional one at `position`, counted from 0."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == name:
            return argument
    positional = [argument for argument in call.args if argument.keyword is None]
    if position is None or len(positional) <= position or any(one.star for one in positional[: position + 1]):
        return None
    return positional[position]


def is_given(argument: cst.Arg | None) -> bool:
    """Whether something other than None is passed to a parameter, by what `given` finds for it:
    `DataLoader(data, generator=None)` passes none.
    """
    return argument is not None and dotted_name(argument.value) != "None"


def is_what_is_kept(document: Document, call: cst.Call) -> bool:
    """Whether a call is what a statement keeps or gives back, or all that it passes on: `iter(DataLoader(...))`."""
    outer = document.parent(call)
    while isinstance(outer, cst.Arg):
        passing = document.parent(outer)
        if not isinstance(passing, cst.Call) or len(passing.args) > 1:
            return False
        outer = document.parent(passing)
    return isinstance(outer, cst.Assign | cst.AnnAssign | cst.Return)
