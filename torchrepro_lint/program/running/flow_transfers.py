"""The graph of where values may go, by names alone: its vertices, and what an edge does to a value.

A vertex is what has values under one name, as a text: `12:name` a variable of the file with that number, `.name` an
attribute or a key of that name on anything, `@name` a global name of a module that another one sets, `name()` what a
function of that name returns or a class of that name makes, `name(0`, `name(key`, `name(*` and `name(?` what a call of
that name gives as the first argument, as a keyword, to any parameter, and at all.

How deep a value lies in containers is told as well: a loader is at depth 0, a list of loaders at depth 1, and what a
loop takes from a loader is no loader any more, nor is an attribute of one. An object of the project that holds one is
at depth `IN_AN_OBJECT`, and a container of such objects at depth `AROUND_OBJECTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

__all__ = [
    "AROUND_OBJECTS",
    "ESCAPED",
    "IN_AN_OBJECT",
    "SOURCE",
    "MAX_NESTING",
    "SAME",
    "TRANSFERS",
    "Flow",
    "Vertex",
    "Transfer",
    "transfer_of",
]

Vertex: TypeAlias = str
#: An end of an edge, and the number of the transfer of that edge.
Flow: TypeAlias = tuple[Vertex, int]

#: What any function may be given that is mentioned without a call.
ESCAPED: Final[Vertex] = "?"
#: The expressions from which values are followed.
SOURCE: Final[Vertex] = "!"

IN_AN_OBJECT: Final = -1
AROUND_OBJECTS: Final = -2
#: Depths from here on are not told apart.
MAX_NESTING: Final = 3


class Transfer(NamedTuple):
    """What an edge does to a value that lies at least `least` deep in containers: it lies `deeper` by so much then.

    With `of_values` the edge is none of an object that only holds the value; with `into_object` it leads into one.
    """

    least: int = 0
    deeper: int = 0
    of_values: bool = False
    into_object: bool = False

    def held(self) -> Transfer:
        """In a container."""
        return self._replace(deeper=self.deeper + 1)

    def taken(self) -> Transfer:
        """Out of a container; of what an object of the project gives, its methods tell."""
        least = max(self.least, 1 - self.deeper)
        return Transfer(least, self.deeper - 1, True, self.into_object)

    def depths(self, depth: int) -> range:
        """How deep the value may lie behind the edge, where it lies at a depth before it."""
        if depth < 0:
            return self._object_depths(depth)
        if depth < min(self.least, MAX_NESTING):
            return range(0)
        if self.into_object:
            # What is deeper is the object, since the value came into it.
            at = AROUND_OBJECTS if self.deeper > 0 else IN_AN_OBJECT
            return range(at, at + (self.deeper >= 0))
        found = max(min(depth + self.deeper, MAX_NESTING), 0)
        return range(found, MAX_NESTING + 1 if depth == MAX_NESTING else found + 1)

    def _object_depths(self, depth: int) -> range:
        """How deep an object that holds the value may lie behind the edge; its methods tell what is taken from it."""
        if depth == IN_AN_OBJECT and (self.least > 0 or self.of_values):
            return range(0)
        if depth == IN_AN_OBJECT and self.deeper <= 0:
            return range(IN_AN_OBJECT, IN_AN_OBJECT + 1)
        return range(AROUND_OBJECTS, AROUND_OBJECTS + (1 if self.deeper > 0 or not self.least else 2))


class _Transfers:
    """All transfers, by their numbers, so that an edge is small; and what is made of flows by one more step."""

    def __init__(self) -> None:
        self.known: list[Transfer] = []
        self._numbers: dict[Transfer, int] = {}
        self.held = self._table(Transfer.held)
        self.taken = self._table(Transfer.taken)
        self.of_values = self._table(lambda transfer: transfer._replace(of_values=True))
        self.into_object = self._table(lambda transfer: transfer._replace(into_object=True, deeper=0))

    def number(self, transfer: Transfer) -> int:
        if transfer not in self._numbers:
            self._numbers[transfer] = len(self.known)
            self.known.append(transfer)
        return self._numbers[transfer]

    def _table(self, change: Callable[[Transfer], Transfer]) -> Callable[[Iterable[Flow]], list[Flow]]:
        numbers: dict[int, int] = {}

        def changed(flows: Iterable[Flow]) -> list[Flow]:
            found = []
            for vertex, transfer in flows:
                if transfer not in numbers:
                    numbers[transfer] = self.number(change(self.known[transfer]))
                found.append((vertex, numbers[transfer]))
            return found

        return changed


TRANSFERS: Final = _Transfers()
#: The number of the transfer that changes nothing.
SAME: Final = TRANSFERS.number(Transfer())


def transfer_of(number: int) -> Transfer:
    """The transfer of that number."""
    return TRANSFERS.known[number]
