"""What says which torch a project needs where it does not name a version of torch: `torch_floors.tsv`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.tables import DataFileError, expand_names, read_table
from torchrepro_lint.knowledge.versions import admits, release

__all__ = ["Companion", "api_keywords", "api_names", "companions", "python_syntax"]

_COLUMNS = ("kind", "name", "since", "torch", "source")
_KEYWORD = re.compile(r"(?P<function>[\w.]+)\((?P<argument>\w+)\)")


@dataclass(frozen=True, slots=True)
class Companion:
    """A package, or Python, whose version tells something about that of torch. `series`: pairs of the version from
    which on something holds, in ascending order, and the torch that it needs. Where it is `pinned`, each series needs
    that minor release of torch and no other.
    """

    name: str
    series: tuple[tuple[str, str], ...]
    pinned: bool

    def torch_of(self, specifier: str) -> str | None:
        """The version specifier of torch that follows from one of the package: that of the oldest series that it
        admits. None where it admits versions of which nothing is known.
        """
        named = re.findall(r"\d+(?:\.\d+)*", specifier)
        starts = [since for since, _ in self.series]
        # A bound itself, and what lies right above and right below it.
        near = [*starts, *named, "0", "99999", *(f"{one}.0.1" for one in named), *map(_right_below, named)]
        admitted = {self._index(version) for version in near if admits(specifier, version)}
        if not admitted or min(admitted) < 0:
            return None
        torch = self.series[min(admitted)][1]
        only = len(admitted) == 1 and min(admitted) < len(self.series) - 1
        return f"=={torch}.*" if self.pinned and only else f">={torch}"

    def _index(self, version: str) -> int:
        """The series of a version, -1 for one before them all."""
        return sum(release(since) <= release(version) for since, _ in self.series) - 1


def _right_below(version: str) -> str:
    """A release below `version` and above all others that are: 1.6.99999 for 1.7."""
    numbers = list(release(version))
    last = next((index for index in reversed(range(len(numbers))) if numbers[index]), 0)
    below = [*numbers[:last], max(numbers[last] - 1, 0), 99999]
    return ".".join(map(str, below))


@cache
def companions() -> Mapping[str, Companion]:
    """By name, `python` among them."""
    series: dict[str, list[tuple[str, str]]] = {}
    pinned: dict[str, bool] = {}
    for row in _rows("pin", "needs"):
        series.setdefault(row["name"], []).append((row["since"], row["torch"]))
        pinned[row["name"]] = row["kind"] == "pin"
    for name, pairs in series.items():
        if pairs != sorted(pairs, key=lambda pair: release(pair[0])):
            raise DataFileError(f"torch_floors.tsv: the versions of {name} are not in ascending order")
    return {name: Companion(name, tuple(pairs), pinned[name]) for name, pairs in series.items()}


@cache
def api_names() -> Mapping[str, str]:
    """Names of torch, and the first version that has each."""
    return {name: row["torch"] for row in _rows("name") for name in expand_names(row["name"])}


@cache
def api_keywords() -> Mapping[tuple[str, str], str]:
    """Functions of torch with an argument, and the first version that takes it."""
    found: dict[tuple[str, str], str] = {}
    for row in _rows("keyword"):
        match = _KEYWORD.fullmatch(row["name"])
        if match is None:
            raise DataFileError(f"torch_floors.tsv: {row['name']} is not of the form function(argument)")
        found[match["function"], match["argument"]] = row["torch"]
    return found


@cache
def python_syntax() -> Mapping[str, str]:
    """Constructs of Python, and the version that introduced each."""
    return {row["name"]: row["since"] for row in _rows("syntax")}


def _rows(*kinds: str) -> list[dict[str, str]]:
    rows = list(read_table("torch_floors.tsv", _COLUMNS))
    if any(not row["source"] for row in rows):
        raise DataFileError("torch_floors.tsv: a row without a source")
    return [row for row in rows if row["kind"] in kinds]
