"""Whether two texts of a file differ in comments and empty lines alone: told without their facts."""

from __future__ import annotations

import re

from torchrepro_lint.quiet import without_warnings
from torchrepro_lint.source.depth import is_too_deep
from torchrepro_lint.source.lines import shared_start

__all__ = ["differ_in_comments_alone"]

_SAYS_NOTHING = re.compile(r"[ \t\f]*(?:#.*)?\r?\n?")


def differ_in_comments_alone(old: str, new: str) -> bool:
    """Whether `new` is readable, and is `old` with other lines that hold only a comment, in one place. False
    where that is not certain.
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if any(one.count("\n") != len(lines) for one, lines in ((old, before), (new, after))):
        return False  # a form feed or a bare carriage return ends a line here, and for Python it does not
    start = shared_start(before, after)
    end = shared_start(before[start:][::-1], after[start:][::-1])
    other = (*before[start : len(before) - end], *after[start : len(after) - end])
    if not all(map(_SAYS_NOTHING.fullmatch, other)) or (start and after[start - 1].rstrip("\r\n").endswith("\\")):
        return False
    return not (is_too_deep(old) or is_too_deep(new) or _is_inside_a_text(new, start, len(after) - end))


def _is_inside_a_text(new: str, start: int, end: int) -> bool:
    """Whether one of the lines from `start` to before `end` (from 0) may be inside a text that goes over them, or the
    place between two lines where there is none.
    """
    import ast

    try:
        with without_warnings():
            tree = compile(new, "", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(
        node.lineno <= end and node.end_lineno > start
        for node in ast.walk(tree)
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno not in (None, node.lineno)
    )
