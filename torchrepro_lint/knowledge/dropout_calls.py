"""Functions that apply dropout whenever they are called; they are in dropout_calls.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_rows

__all__ = ["DropoutCall", "dropout_calls"]

_FILE = "dropout_calls.toml"


@dataclass(frozen=True, slots=True)
class DropoutCall:
    """A row of the table. `rate_if_missing` is the probability where `rate` is not given; `mode` is None for a function
    of which only the probability says that nothing is dropped.
    """

    rate: Parameter
    rate_if_missing: float
    mode: Parameter | None


@cache
def dropout_calls() -> Mapping[str, DropoutCall]:
    """The functions by their canonical names."""
    found: dict[str, DropoutCall] = {}
    for row in read_rows(_FILE, "calls"):
        mode = Parameter.parse(row["mode"]) if "mode" in row else None
        one = DropoutCall(Parameter.parse(row["rate"]), row["rate_if_missing"], mode)
        for text in row["names"]:
            found.update((canonical(name), one) for name in expand_names(text))
    return found
