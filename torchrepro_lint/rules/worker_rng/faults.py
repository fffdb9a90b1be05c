"""Faults in what a dataset does, each with the loaders that suffer from it: the same fault is reported once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.loaders.loaders import Loader

__all__ = ["Fault", "Faults"]

What = TypeVar("What")


@dataclass(slots=True)
class Fault(Generic[What]):
    """What is wrong, as it is seen from the first loader; `others` are the further loaders, in their order."""

    what: What
    loader: Loader
    places: set[Site]
    others: list[Site] = field(default_factory=list)


class Faults(Generic[What]):
    """Faults by the places that they are about: what shares a place with a known one is that one."""

    def __init__(self) -> None:
        self._faults: list[Fault[What]] = []

    def add(self, what: What, loader: Loader, places: Iterable[Site]) -> None:
        """Notes that a loader suffers from a fault."""
        sites = set(places)
        for known in self._faults:
            if known.places & sites:
                known.places |= sites
                if loader.site != known.loader.site and loader.site not in known.others:
                    known.others.append(loader.site)
                return
        self._faults.append(Fault(what, loader, sites))

    def __iter__(self) -> Iterator[Fault[What]]:
        return iter(self._faults)
