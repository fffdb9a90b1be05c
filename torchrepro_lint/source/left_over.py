"""Whether a text that cannot be parsed does something when it runs, or only defines what others would import."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["only_defines"]

#: A line without indentation that begins a statement which runs: a call, a loop, a branch; not an assignment.
_RUNS: Final = re.compile(
    rb"^(?:if|for|while|with|try|match|raise|assert|del|exec|print)\b|^[A-Za-z_][\w.]*\s*\(", re.MULTILINE
)
_TEXT: Final = re.compile(rb'"""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\'')
_DEFINES: Final = re.compile(rb"^(?:class|def|async\s+def)\s+\w", re.MULTILINE)


def only_defines(data: bytes) -> bool:
    """Whether the bytes of a file define functions or classes, and run nothing besides at the top level, as far as the
    beginnings of the lines tell.
    """
    code = _TEXT.sub(b"", data)
    return _DEFINES.search(code) is not None and _RUNS.search(code) is None
