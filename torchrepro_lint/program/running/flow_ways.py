"""How values go from one holder to another: as they are, into a container, out of one, into an object.

A holder is a text: `12:name` a variable of the file with that number, `.name` an attribute or a key of that name on
anything, `@name` a global name of a module that another one sets, `name()` what a function of that name returns or a
class of that name makes, `name(0`, `name(key`, `name(*` and `name(?` what a call of that name gives as the first
argument, as a keyword, to any parameter, and at all.

How deep a value lies in containers is told as well: a loader is at depth 0, a list of loaders at depth 1, and what a
loop takes from a loader is no loader any more, nor is an attribute of one. An object of the project that holds one is
at depth `IN_AN_OBJECT`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

__all__ = ["ESCAPED", "IN_AN_OBJECT", "MARKED", "MAX_NESTING", "SAME", "WAYS", "Flow", "Holder", "Way", "way_of"]

Holder: TypeAlias = str
#: What comes from a holder, and the number of the way on which it comes.
Flow: TypeAlias = tuple[Holder, int]

#: What any function may be given that is mentioned without a call.
ESCAPED: Final[Holder] = "?"
#: The expressions that are asked for.
MARKED: Final[Holder] = "!"

IN_AN_OBJECT: Final = -1
#: Depths from here on are not told apart.
MAX_NESTING: Final = 3


class Way(NamedTuple):
    """How a value goes from one holder to another, if it lies at least `least` deep in containers there: `deeper` by so
    much. With `of_values` nothing comes from an object that only holds it; `into_object`: it is held by an object then.
    """

    least: int = 0
    deeper: int = 0
    of_values: bool = False
    into_object: bool = False

    def held(self) -> Way:
        """In a container."""
        return self if self.into_object else self._replace(deeper=self.deeper + 1)

    def taken(self) -> Way:
        """Out of a container; of what an object of the project gives, its methods tell."""
        least = max(self.least, 1 - self.deeper)
        return Way(least, self.deeper - 1, True, self.into_object)

    def depths(self, depth: int) -> range:
        """How deep it may lie, where it lies at a depth in the holder."""
        if depth == IN_AN_OBJECT:
            return range(0) if self.of_values else range(IN_AN_OBJECT, IN_AN_OBJECT + 1)
        if depth < min(self.least, MAX_NESTING):
            return range(0)
        if self.into_object:
            return range(0) if self.of_values else range(IN_AN_OBJECT, IN_AN_OBJECT + 1)
        found = max(min(depth + self.deeper, MAX_NESTING), 0)
        return range(found, MAX_NESTING + 1 if depth == MAX_NESTING else found + 1)


class _Ways:
    """All ways, by their numbers: an edge is two words then."""

    def __init__(self) -> None:
        self.known: list[Way] = []
        self._numbers: dict[Way, int] = {}
        self.held = self._table(Way.held)
        self.taken = self._table(Way.taken)
        self.of_values = self._table(lambda way: way._replace(of_values=True))
        self.into_object = self._table(lambda way: way._replace(into_object=True))

    def number(self, way: Way) -> int:
        if way not in self._numbers:
            self._numbers[way] = len(self.known)
            self.known.append(way)
        return self._numbers[way]

    def _table(self, change: Callable[[Way], Way]) -> Callable[[Iterable[Flow]], list[Flow]]:
        numbers: dict[int, int] = {}

        def changed(flows: Iterable[Flow]) -> list[Flow]:
            found = []
            for holder, way in flows:
                if way not in numbers:
                    numbers[way] = self.number(change(self.known[way]))
                found.append((holder, numbers[way]))
            return found

        return changed


WAYS: Final = _Ways()
#: The number of the way on which nothing changes.
SAME: Final = WAYS.number(Way())


def way_of(number: int) -> Way:
    """The way that an edge tells by its number."""
    return WAYS.known[number]
