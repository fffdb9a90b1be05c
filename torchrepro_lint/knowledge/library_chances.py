"""Transforms of libraries that run with a chance; the classes are in library_chances.toml."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import NameIndex, expand_names, read_rows

__all__ = ["LibraryChance", "library_chance"]

_FILE = "library_chances.toml"


@dataclass(frozen=True, slots=True)
class LibraryChance:
    """With what chance a transform runs: the value of `parameter`. `settled`: the chance is all that it draws for."""

    parameter: Parameter
    settled: bool


def library_chance(name: str) -> LibraryChance | None:
    """What is known of the chance of a class, by its dotted name."""
    return next(iter(_index().get(canonical(name))), None)


@cache
def _index() -> NameIndex[LibraryChance]:
    index: NameIndex[LibraryChance] = NameIndex()
    for row in read_rows(_FILE, "transforms"):
        chance = LibraryChance(Parameter.parse(row["chance"]), row.get("settled", False))
        for text in row["names"]:
            for name in expand_names(text):
                index.add(canonical(name), chance)
    return index
