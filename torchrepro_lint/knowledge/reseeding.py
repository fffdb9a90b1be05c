"""How a generator that torch does not seed gets a seed of its own in a worker: the statements of `reseeding.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.knowledge.tables import DataFileError, read_toml

__all__ = ["Reseeding", "library_reseeding", "loader_reseeding", "object_reseeding"]

_FILE = "reseeding.toml"


@dataclass(frozen=True, slots=True)
class Reseeding:
    """One way to seed. `statement` has the places `{target}`, `{seed}` (an integer from 0 to 2**32 - 1) and the names
    of `modules`. `replaces`: it assigns a new object to the target.
    """

    name: str
    statement: str
    modules: tuple[str, ...]
    replaces: bool
    source: str


def object_reseeding(name: str) -> Reseeding | None:
    """How to seed an object of a class, by its canonical name."""
    return _table("object", "name").get(name)


def library_reseeding(rng: str) -> Reseeding | None:
    """How to seed the generator that a library keeps for itself, by its name in `generators`."""
    return _table("library", "rng").get(rng)


def loader_reseeding(package: str) -> Reseeding | None:
    """What the loaders of a package do in each worker, if they are given no worker init function."""
    return _table("loader", "package").get(package)


@cache
def _table(kind: str, key: str) -> Mapping[str, Reseeding]:
    table = {}
    for row in read_toml(_FILE)[kind]:
        one = _reseeding(row, key)
        if kind == "library" and one.name not in generators():
            raise DataFileError(f"{_FILE}: {one.name} is no generator of generators.toml")
        table[one.name] = one
    return table


def _reseeding(row: Mapping[str, Any], key: str) -> Reseeding:
    modules = tuple(row.get("modules", ()))
    one = Reseeding(row[key], row["statement"], modules, row.get("replaces", False), row["source"])
    try:
        one.statement.format(target="t", seed="s", **dict.fromkeys(modules, "m"))
    except KeyError as error:
        raise DataFileError(f"{_FILE}: {one.name}: nothing says what {error} is") from error
    return one
