"""What calls outside the project pass on of what they are given; the names are in passing.toml."""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, expand_names, read_toml

__all__ = ["PassingTable", "calls_that_keep", "passing_calls"]

PassingTable = Literal[
    "same", "itself", "elements", "one_element", "all_elements", "all_arguments", "keeps_keywords",
    "keys_are_attributes", "replaces_attributes", "calls_nothing",
]  # fmt: skip


@cache
def passing_calls(table: PassingTable) -> frozenset[str]:
    """The canonical names of the calls that a table lists. Raises `DataFileError` where it has no source."""
    row = read_toml("passing.toml").get(table, {})
    if not row.get("source"):
        raise DataFileError(f"passing.toml: no table {table}, or one without a source")
    return frozenset(canonical(name) for text in row["names"] for name in expand_names(text))


@cache
def calls_that_keep() -> frozenset[str]:
    """The canonical names of the calls that keep a function that they are given, or pass on what holds it, and do not
    call it.
    """
    tables = [table for table in get_args(PassingTable) if table != "itself"]
    return frozenset[str]().union(*map(passing_calls, tables))
