"""How the tool speaks to the person who runs it, whichever door was used."""

from __future__ import annotations

import sys
from collections.abc import Iterable

__all__ = ["PROGRAM", "counted", "print_errors"]

PROGRAM = "torchrepro-lint"


def print_errors(messages: Iterable[object]) -> None:
    """What went wrong, one line each on standard error, with the program's name in front."""
    for message in messages:
        print(f"{PROGRAM}: {message}", file=sys.stderr)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
