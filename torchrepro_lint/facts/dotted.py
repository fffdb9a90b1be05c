"""Texts that begin a dotted name: `"datasets."` in `f"datasets.{name}"`."""

from __future__ import annotations

import re

__all__ = ["dotted_beginning"]

_BEGINNING = re.compile(r"(?:[^\W\d]\w*\.)+")


def dotted_beginning(text: str) -> str:
    """The text, where a name that follows makes it a dotted name; else none."""
    return text if _BEGINNING.fullmatch(text) else ""
