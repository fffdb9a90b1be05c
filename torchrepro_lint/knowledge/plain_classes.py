"""Classes of libraries that only make a kind of what derives from them; they are in plain_classes.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from torchrepro_lint.knowledge.tables import read_toml

__all__ = ["plain_classes"]


@cache
def plain_classes() -> Mapping[str, tuple[str, ...]]:
    """The classes by their canonical names, each with its own bases but for `object` and protocols."""
    return {row["name"]: tuple(row["bases"]) for row in read_toml("plain_classes.toml")["plain"]}
