"""What a text that cannot be parsed is to the programs around it: it only defines what others would import, it is of
another subject than torch, a script of cells that are run one by one, or left unresolved by a merge.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["defined_in", "has_conflict", "has_no_torch", "is_of_cells", "only_defines"]

#: A line without indentation that begins a statement which runs: a call, a loop, a branch; not an assignment.
_RUNS: Final = re.compile(
    rb"^(?:if|for|while|with|try|match|raise|assert|del|exec|print)\b|^[A-Za-z_][\w.]*\s*\(", re.MULTILINE
)
#: A word of torch, or of a library that trains with it.
_TORCH: Final = re.compile(rb"torch|ightning|monai|fastai|accelerate|transformers|timm|DataLoader")
_TEXT: Final = re.compile(rb'"""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\'')
#: What begins a cell in a script for editors with cells, such as Spyder's and VS Code's.
_CELL: Final = re.compile(rb"^#[ \t]?%%", re.MULTILINE)
#: What `git merge` writes around the two sides of a conflict.
_CONFLICT: Final = re.compile(rb"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
_DEFINES: Final = re.compile(rb"^(?:class|def|async\s+def)\s+(\w+)", re.MULTILINE)


def only_defines(data: bytes) -> bool:
    """Whether the bytes of a file define functions or classes, and run nothing besides at the top level, as far as the
    beginnings of the lines tell.
    """
    code = _TEXT.sub(b"", data)
    return _DEFINES.search(code) is not None and _RUNS.search(code) is None


def defined_in(data: bytes) -> frozenset[str]:
    """The names of the functions and classes that the bytes of a file define at its top level, as far as the beginnings
    of the lines tell.
    """
    return frozenset(one.decode(errors="replace") for one in _DEFINES.findall(_TEXT.sub(b"", data)))


def has_no_torch(data: bytes) -> bool:
    """Whether the bytes of a file mention neither torch nor a library that trains with it."""
    return _TORCH.search(data) is None


def is_of_cells(data: bytes) -> bool:
    """Whether the bytes of a file are a script of cells (`# %%`), which an editor runs one by one."""
    return _CELL.search(data) is not None


def has_conflict(data: bytes) -> bool:
    """Whether the bytes of a file hold the marks of a merge that was left unresolved."""
    return _CONFLICT.search(data) is not None
