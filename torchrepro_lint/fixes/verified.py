"""Whether the text that came out of a fix can be trusted."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.facts.libcst_parser import parse_module
from torchrepro_lint.facts.positions import is_reproduced
from torchrepro_lint.quiet import without_warnings

__all__ = ["outside_is_equal", "verify_edit"]


def verify_edit(
    old_text: str, new_text: str, edits: Iterable[Edit] | None = None, *, awaits: bool = False
) -> str | None:
    """Why `new_text` must not be written in the place of `old_text`, or None if it may.

    The new text has to parse and to compile; with `edits` given, everything outside of them has to be unchanged.
    With `awaits`, it may await at the top level, as the cells of a notebook may.
    """
    try:
        module = parse_module(new_text)
    except cst.ParserSyntaxError as error:
        return f"the result does not parse (line {error.raw_line}: {error.message})"
    # What libcst drops, such as a form feed before a `def`, stays in the text, which is not made from the tree.
    if not is_reproduced(module.code, new_text):
        return "the result is not what its syntax tree says"
    wrong = _why_not_compiled(new_text, awaits=awaits)
    if wrong is not None:
        if awaits and isinstance(wrong, SyntaxError) and "__future__" in str(wrong):
            return "a later cell imports from `__future__`: move that import into the first cell, then it can be fixed"
        before = _why_not_compiled(old_text, awaits=awaits)
        return (
            f"the result does not compile ({_said(wrong)})"
            if before is None
            else f"the file does not compile ({_said(before)})"
        )
    if edits is not None and not outside_is_equal(old_text, new_text, edits):
        return "the result differs outside of its edits"
    return None


def _why_not_compiled(text: str, *, awaits: bool) -> SyntaxError | ValueError | None:
    try:
        with without_warnings():
            compile(text, "<text>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if awaits else 0, dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return error
    return None


def _said(error: SyntaxError | ValueError) -> str:
    return f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)


def outside_is_equal(old_text: str, new_text: str, edits: Iterable[Edit]) -> bool:
    """Whether the two texts agree in everything that lies outside of `edits`, which turned the old into the new."""
    old = new = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        length = edit.start - old
        if old_text[old : edit.start] != new_text[new : new + length]:
            return False
        old, new = edit.end, new + length + len(edit.content)
    return old_text[old:] == new_text[new:]
