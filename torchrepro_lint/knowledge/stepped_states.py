"""Objects with a state that a training moves on and a checkpoint has to hold; they are in stepped_states.toml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_rows

__all__ = ["SteppedState", "stepped_states"]

_FILE = "stepped_states.toml"


@dataclass(frozen=True, slots=True)
class SteppedState:
    """A row of the table, which explains the fields. `steps` are the canonical names of methods, with their types."""

    kind: str
    called: str
    made: frozenset[str]
    steps: frozenset[str]
    key: re.Pattern[str]
    state: re.Pattern[bytes]


@cache
def stepped_states() -> tuple[SteppedState, ...]:
    """All kinds, in the order of the table."""
    found = []
    for row in read_rows(_FILE, "state"):
        made = frozenset(canonical(name) for text in row["made"] for name in expand_names(text))
        steps = frozenset(canonical(f"{name}.{method}") for name in made for method in row["steps"])
        key, state = re.compile(row["key"], re.IGNORECASE), re.compile(row["state"].encode(), re.IGNORECASE)
        found.append(SteppedState(row["kind"], row["called"], made, steps, key, state))
    return tuple(found)
