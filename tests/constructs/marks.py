"""What stands at the two ends of a construct when it is run to see that it carries what begins at one to the other."""

from __future__ import annotations

from dataclasses import dataclass

#: What has arrived since it was last emptied.
arrived: list[object] = []


@dataclass(frozen=True)
class Mark:
    """The value that is carried; a copy is equal to it."""


def take(value: object) -> object:
    """The sink: what arrives is kept in `arrived`."""
    arrived.append(value)
    return value
