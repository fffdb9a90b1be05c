"""What starts functions of the program in other processes; they are in processes.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from torchrepro_lint.knowledge.conditions import Condition, Parameter, parse_conditions
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_rows

__all__ = ["PoolClass", "ProcessStart", "begins_a_fit", "pool_classes", "process_starts"]

_FILE = "processes.toml"


@dataclass(frozen=True, slots=True)
class PoolClass:
    """A class of pools: the arguments that say how many processes it has, and what each of them calls first."""

    workers: Parameter
    initializer: Parameter


@dataclass(frozen=True, slots=True)
class ProcessStart:
    """A call that runs a function in other processes. One that is `alone` starts a single process. It starts none where
    one of `when` does not hold, or where the files of the program say what `not_beside` matches. The processes are
    never forked where they are `fresh`: they have no state of the program's, and models get their first weights there.
    `methods` are what they call of a class that is given in place of a function.
    """

    function: Parameter
    alone: bool
    fresh: bool
    methods: tuple[str, ...]
    when: tuple[Condition, ...]
    not_beside: re.Pattern[bytes] | None


@cache
def pool_classes() -> Mapping[str, PoolClass]:
    """The classes by their canonical names."""
    found: dict[str, PoolClass] = {}
    for row in read_rows(_FILE, "pool"):
        one = PoolClass(Parameter.parse(row["workers"]), Parameter.parse(row["initializer"]))
        found.update((canonical(name), one) for name in _names(row))
    return found


@cache
def process_starts() -> Mapping[str, ProcessStart]:
    """The calls by their canonical names; a method with its class."""
    found: dict[str, ProcessStart] = {}
    for row in read_rows(_FILE, "start"):
        one = ProcessStart(
            Parameter.parse(row["function"]),
            row.get("alone", False),
            row.get("fresh", False),
            tuple(row.get("methods", ())),
            parse_conditions(row.get("when", "")),
            re.compile(row["not_beside"].encode()) if "not_beside" in row else None,
        )
        found.update((canonical(name), one) for name in _names(row))
    return found


@cache
def begins_a_fit() -> frozenset[str]:
    """The canonical names of calls that draw where a fit of their own begins."""
    return frozenset(canonical(name) for row in read_rows(_FILE, "fit") for name in _names(row))


def _names(row: Mapping[str, Any]) -> list[str]:
    return [name for text in row["names"] for name in expand_names(text)]
