"""Ways by which two runs come to differ that are no operation and no draw of their own: arrivals, hashes, children."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from torchrepro_lint.verify.script.compare import is_worker
from torchrepro_lint.verify.script.entries import MAIN, Entry
from torchrepro_lint.verify.script.record import Record

Pair: TypeAlias = tuple[Entry, Entry]


def arrived_otherwise(first: Record, second: Record, process: str) -> Pair | None:
    """The first two results that a line took in the order in which they were finished, and that came in another order:
    what one run has there, the other has elsewhere.
    """
    one, other = ([entry for entry in run.of_process(process) if entry.kind == "arrival"] for run in (first, second))
    outputs = {entry.output for entry in one} & {entry.output for entry in other}
    for pair in zip(one, other, strict=False):
        if pair[0].place != pair[1].place:
            return None
        if pair[0].output != pair[1].output:
            return pair if pair[0].output in outputs or pair[1].output in outputs else None
    return None


def hashed_otherwise(first: Record, second: Record, process: str) -> Pair | None:
    """The first call of `hash` that gave another number."""
    one, other = ([entry for entry in run.of_process(process) if entry.kind == "hash"] for run in (first, second))
    for pair in zip(one, other, strict=False):
        if (pair[0].place, pair[0].shown) != (pair[1].place, pair[1].shown):
            return None
        if pair[0].output != pair[1].output:
            return pair
    return None


def drawn_in_children(first: Record, second: Record) -> Iterator[Pair]:
    """The draws that differ in processes that the script started, other than the workers of its loaders.

    Which of several processes was given a task is not the same in each run, so draws are paired by their line.
    """
    one, other = (
        {
            (entry.name, entry.place): entry
            for entry in reversed(run.entries)
            if entry.kind == "draw" and _in_child(entry)
        }
        for run in (first, second)
    )
    return ((entry, other[at]) for at, entry in one.items() if at in other and other[at].output != entry.output)


def _in_child(entry: Entry) -> bool:
    return entry.process != MAIN and not is_worker(entry.process) and not entry.process.startswith(f"{MAIN}, thread ")
