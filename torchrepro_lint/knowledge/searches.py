"""Searches of hyperparameters with a seed of their own; they are in searches.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.conditions import Condition, Parameter, parse_conditions
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_rows

__all__ = ["Search", "searches", "threads_of_searches"]

_FILE = "searches.toml"


@dataclass(frozen=True, slots=True)
class Search:
    """A row of the table, which explains the fields."""

    seed: Parameter | None
    through: Parameter | None
    shared: Parameter | None
    takes: str
    elsewhere: str
    when: tuple[Condition, ...]


@cache
def searches() -> Mapping[str, Search]:
    """The calls by their canonical names."""
    found: dict[str, Search] = {}
    for row in read_rows(_FILE, "search"):
        seed, through, shared = (
            Parameter.parse(row[key]) if key in row else None for key in ("seed", "through", "shared")
        )
        when = parse_conditions(row.get("when", ""))
        one = Search(seed, through, shared, row.get("takes", ""), row.get("elsewhere", ""), when)
        for text in row["names"]:
            found.update((canonical(name), one) for name in expand_names(text))
    return found


@cache
def threads_of_searches() -> Mapping[str, Parameter]:
    """The methods that run a search in threads, which seed it anew; with the argument that has their number."""
    rows = read_rows(_FILE, "in_threads")
    return {
        canonical(name): Parameter.parse(row["threads"])
        for row in rows
        for text in row["names"]
        for name in expand_names(text)
    }
