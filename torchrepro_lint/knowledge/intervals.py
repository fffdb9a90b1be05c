"""Draws whose interval is known; the names are in intervals.toml."""

from __future__ import annotations

from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, expand_names, read_toml

__all__ = ["drawn_from"]


@cache
def drawn_from(
    interval: Literal["unit", "between", "whole", "successes"],
    key: Literal["alone", "tensors", "names", "both", "below"],
) -> frozenset[str]:
    """The canonical names of what draws from the interval. DataFileError where the file does not list them."""
    table = read_toml("intervals.toml").get(interval, {})
    if key not in table or not table.get("source"):
        raise DataFileError(f"intervals.toml: no {key} in {interval}, or no source")
    return frozenset(canonical(name) for text in table[key] for name in expand_names(text))
