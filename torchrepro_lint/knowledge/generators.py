"""The random number generators that the tables on random numbers, seeding calls and loaders name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.tables import read_toml

__all__ = ["Generator", "generators", "library_generators", "process_generators"]


@dataclass(frozen=True, slots=True)
class Generator:
    """A row of `generators.toml`, which explains the fields. `called` is empty if no message names the generator."""

    name: str
    description: str
    called: str = ""
    whole_process: bool = False
    library: bool = False
    copied: bool = False


@cache
def generators() -> Mapping[str, Generator]:
    """All of them by name, in the order in which messages list them."""
    rows = read_toml("generators.toml")["generator"]
    return {row["name"]: Generator(description=row["is"], **{k: row[k] for k in row if k != "is"}) for row in rows}


@cache
def process_generators() -> frozenset[str]:
    """The names of those of which there is one in each process."""
    return frozenset(name for name, one in generators().items() if one.whole_process)


@cache
def library_generators() -> frozenset[str]:
    """The names of the generators of libraries, which torch seeds in no version of them."""
    return frozenset(name for name, one in generators().items() if one.library)
