"""Chains of links that begin at one place and part, as one trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torchrepro_lint.program.running.events import Link
from torchrepro_lint.source.lines import shared_start

__all__ = ["branches"]


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
