"""What frameworks call in each epoch or step of a training: methods of subclasses, and functions under a decorator."""

from __future__ import annotations

from functools import cache

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_rows, read_toml

__all__ = ["asks_again", "events_of", "handed_to", "hooks_of"]

_FILE = "training_hooks.toml"


@cache
def hooks_of(base: str) -> frozenset[str]:
    """The methods that are called so in subclasses of a library's class, by its canonical name."""
    return _classes().get(base, frozenset())


@cache
def asks_again(base: str, method: str) -> str | None:
    """The option with which a framework calls a method of a subclass, which makes loaders, again in one training; None
    for any other method. Without the option it calls the method once.
    """
    for row in read_toml(_FILE)["loaders"]:
        if base in map(canonical, row["bases"]) and method in row["methods"]:
            return str(row["again_with"])
    return None


@cache
def events_of(method: str) -> frozenset[str]:
    """The events that a decorator of this name takes, and that come in each epoch or step, by canonical names."""
    rows = [row for row in read_toml(_FILE)["decorator"] if row["method"] == method]
    return frozenset(canonical(name) for row in rows for text in row["events"] for name in expand_names(text))


@cache
def handed_to(argument: str) -> frozenset[str]:
    """The calls whose argument of this name is a function that is called in each epoch or round, by canonical names."""
    rows = [row for row in read_rows(_FILE, "handed") if row["argument"] == argument]
    return frozenset(canonical(name) for row in rows for name in row["calls"])


@cache
def _classes() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for row in read_rows(_FILE, "class"):
        methods = frozenset(name for text in row["methods"] for name in expand_names(text))
        for base in row["bases"]:
            table[canonical(base)] = methods
    return table
