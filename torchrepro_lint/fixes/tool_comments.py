"""Comments that are read by other tools, and not by people."""

from __future__ import annotations

import re

__all__ = ["is_for_a_tool"]

_TOOLS = re.compile(r"pylint:|fmt:|yapf:|isort:|type:|noqa|nosec|pragma|mypy:|pyright:|ruff:")


def is_for_a_tool(text: str) -> bool:
    """Whether a text, a comment or the lines of several, has a word for a checker or a formatter."""
    return _TOOLS.search(text) is not None
