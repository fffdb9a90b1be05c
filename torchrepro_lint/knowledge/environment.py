"""Environment variables that decide whether runs agree: which values work, and when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.tables import read_toml
from torchrepro_lint.knowledge.versions import admits

__all__ = ["CUBLAS_WORKSPACE", "EnvironmentVariable", "environment_variables"]

#: The one that a rule asks for by its name.
CUBLAS_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """A row of `environment.toml`, which explains the fields. The first of the `accepted` values is the usual one."""

    name: str
    source: str
    read_at_start_of: Literal["python", "cuda"] | None = None
    accepted: tuple[str, ...] = ()
    checked_by: str | None = None

    def is_checked_by(self, release: str) -> bool:
        """Whether a release of torch raises where the variable is not set to an accepted value."""
        return self.checked_by is not None and admits(self.checked_by, release)


@cache
def environment_variables() -> Mapping[str, EnvironmentVariable]:
    """All of them by name, in the order in which a person is told of them."""
    rows = read_toml("environment.toml")["variable"]
    return {row["name"]: EnvironmentVariable(**{**row, "accepted": tuple(row.get("accepted", ()))}) for row in rows}
