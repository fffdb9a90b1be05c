"""Patterns of files as a .gitignore file has them."""

from __future__ import annotations

import re
from typing import Any

from torchrepro_lint.diagnostics import TorchReproLintError

__all__ = ["require_pattern", "why_no_pattern"]


def why_no_pattern(line: str) -> str:
    """What is wrong with the pattern `line`; empty where nothing is."""
    from pathspec import GitIgnoreSpec

    factory: Any = GitIgnoreSpec
    try:
        factory.from_lines([line])
    except re.error as error:
        return error.msg  # places are those of the expression that the pattern becomes
    except ValueError as error:
        return str(error)
    return ""


def require_pattern(text: str, where: str) -> str:
    """`text`; TorchReproLintError, which begins with `where`, where it is not a pattern."""
    # Only a range of characters can be wrong, and few runs have one: the others do not pay for the import.
    wrong = why_no_pattern(text) if "[" in text else ""
    if wrong:
        raise TorchReproLintError(f'{where}: "{text}" is not a valid .gitignore pattern: {wrong}')
    return text
