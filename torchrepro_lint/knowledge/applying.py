"""Calls outside the project that call a function that they are given; the names are in applying.toml."""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, get_args

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, expand_names, read_toml

__all__ = ["GIVES_RESULT", "Applying", "applying", "applying_words"]

#: How a function is called: with elements, later, or at once.
Applying = Literal["elements", "later", "at_once"]

#: The method that gives the result of what is called later.
GIVES_RESULT: Final = "result"


@cache
def _kinds() -> dict[str, Applying]:
    found: dict[str, Applying] = {}
    for kind in get_args(Applying):
        row = read_toml("applying.toml").get(kind, {})
        if not row.get("source"):
            raise DataFileError(f"applying.toml: no table {kind}, or one without a source")
        found.update((canonical(name), kind) for text in row["names"] for name in expand_names(text))
    return found


def applying(name: str) -> Applying | None:
    """How what has this canonical name calls its first argument; None where it does not. Raises `DataFileError` where a
    table has no source.
    """
    return _kinds().get(name)


@cache
def applying_words() -> frozenset[str]:
    """The last parts of the names."""
    return last_parts(_kinds())
