"""IPython's magics: which of them run the Python text that stands after them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.tables import DataFileError, read_toml

__all__ = ["Magics", "magics"]


@dataclass(frozen=True, slots=True)
class Magics:
    """Names without their percent signs. `cell`: the rest of the cell is the notebook's own code; `line`: the statement
    after the name and its options is; `value`: the magic has the value of the expression after it; `automatic`: the
    percent sign may be left out; `numpy`: the magic imports NumPy by its name.
    """

    cell: frozenset[str]
    line: frozenset[str]
    value: frozenset[str]
    automatic: frozenset[str]
    numpy: frozenset[str]


@cache
def magics() -> Magics:
    """The table. DataFileError where it is not what it should be."""
    table = read_toml("magics.toml")
    if set(table) != set(Magics.__slots__):
        raise DataFileError(f"magics.toml: the keys are {sorted(table)}")
    found = Magics(**{key: frozenset(names) for key, names in table.items()})
    if not found.value <= found.line:
        raise DataFileError("magics.toml: a magic with a value runs a line")
    return found
