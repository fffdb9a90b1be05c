"""Chains of links that begin at one place and part: as one trace, and as a line of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torchrepro_lint.program.running.events import Link
from torchrepro_lint.source.lines import shared_start

__all__ = ["branches", "called_names"]

_CALLS, _IMPORTS, _DEFINES, _INIT = "calls ", "imports ", "defines ", ".__init__"


def branches(*chains: Sequence[Link]) -> list[Link]:
    """The chains one after the other, each told from where it leaves the one before, and as far in as that."""
    told: list[Link] = []
    before: Sequence[Link] = ()
    for chain in chains:
        shared = shared_start(before, chain)
        told.extend(
            replace(link, depth=shared) if told and index == 0 else link for index, link in enumerate(chain[shared:])
        )
        before = chain
    return told


def called_names(chain: Sequence[Link], after: Sequence[Link] = ()) -> list[str]:
    """What is entered along a chain, in order: functions, classes, modules; without what it shares with `after`."""
    names: list[str] = []
    for link in chain[shared_start(after, chain) :]:
        if link.note.startswith((_IMPORTS, _DEFINES)):
            names.append(link.note.removeprefix(_IMPORTS).removeprefix(_DEFINES))
        elif not link.note.startswith(_CALLS):
            names.append(link.note.removesuffix(_INIT))
    return names
