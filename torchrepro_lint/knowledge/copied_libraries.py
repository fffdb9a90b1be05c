"""Libraries of which projects keep a copy in their own tree; they are in copied_libraries.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from torchrepro_lint.knowledge.tables import read_toml

__all__ = ["copied_libraries"]


@cache
def copied_libraries(*, words: bool = False) -> Mapping[str, str]:
    """The names of packages, each with that of its distribution; with `words`, those that may name any folder."""
    found: Mapping[str, str] = read_toml("copied_libraries.toml")["words" if words else "packages"]
    return found
