"""Command lines of frameworks that seed the program which they build; they are in command_lines.toml."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from torchrepro_lint.knowledge.tables import DataFileError, read_toml

__all__ = ["ABSENT", "CommandLine", "Given", "command_line", "command_lines"]

_FILE = "command_lines.toml"

#: Where a value is given: under a key of a configuration file, or as an argument of the call.
Given = Literal["configuration", "argument"]

#: The value of an argument that is not given.
ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One command line. `unseeded` holds the values that leave the program unseeded, as Python writes them, with the
    versions of the packages in which they do; None for all.
    """

    names: tuple[str, ...]
    packages: tuple[str, ...]
    trainer: str
    trainer_key: str
    seeding: str
    seed_key: str
    seed_argument: str
    hidden: tuple[str, ...]
    unseeded: tuple[tuple[Given, str, str | None], ...]
    source: str

    def leaves_unseeded(self, given: Given, value: str, installed: Callable[[str], bool]) -> bool:
        """Whether a value leaves the program unseeded; `installed` says whether a specifier holds for what it runs
        with.
        """
        return any(
            (given, value) == (where, known) and (versions is None or installed(versions))
            for where, known, versions in self.unseeded
        )


@cache
def command_lines() -> tuple[CommandLine, ...]:
    """All of them."""
    return tuple(_command_line(row) for row in read_toml(_FILE)["command_line"])


def command_line(name: str) -> CommandLine | None:
    """The command line of a canonical name."""
    return next((one for one in command_lines() if name in one.names), None)


def _command_line(row: dict[str, Any]) -> CommandLine:
    unseeded = []
    for one in row["unseeded"]:
        if one["given"] not in get_args(Given):
            raise DataFileError(f"{_FILE}: {one['given']!r} is no place where a seed is given")
        unseeded.append((one["given"], one["value"], one.get("versions")))
    if not row.get("source"):
        raise DataFileError(f"{_FILE}: {row['names']} has no source")
    return CommandLine(
        names=tuple(row["names"]),
        packages=tuple(row["packages"]),
        trainer=row["trainer"],
        trainer_key=row["trainer_key"],
        seeding=row["seeding"],
        seed_key=row["seed_key"],
        seed_argument=row["seed_argument"],
        hidden=tuple(row["hidden"]),
        unseeded=tuple(unseeded),
        source=row["source"],
    )
