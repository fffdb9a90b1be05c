"""Where two records first differ. Offline: neither torch nor numpy, and no process, is needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal, TypeAlias

from torchrepro_lint.verify.script.entries import COMPARED, MAIN, Entry, Kind
from torchrepro_lint.verify.script.environment import Difference, difference
from torchrepro_lint.verify.script.record import Record

# In what two entries differ: the same thing gave another result, another thing was done, or one run did no more.
How: TypeAlias = Literal["result", "order", "length"]
# What is compared is what a program computes. A draw that nothing depends on may differ.
RESULTS: frozenset[Kind] = COMPARED - {"draw"}

_WORKER = re.compile(r"worker \d+ of loader \d+$")


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place at which one process did not do the same in both runs; None where a run had come to its end."""

    process: str
    first: Entry | None
    second: Entry | None
    how: How

    @property
    def entry(self) -> Entry:
        """The entry of the first run, or of the second where the first has none."""
        entry = self.first or self.second
        assert entry is not None
        return entry


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two records side by side.

    `compared` counts by kind the pairs that were compared, `unread` those of them whose content could not be read in
    both runs. `alone` are processes that only one of the runs had.
    """

    divergence: Divergence | None
    compared: Counter[str]
    unread: int
    environment: list[Difference] = field(default_factory=list)
    alone: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many pairs with a readable content were compared."""
        return self.compared.total() - self.unread

    @property
    def is_cut_off(self) -> bool:
        """Whether one run only got less far than the other."""
        return self.divergence is not None and self.divergence.how == "length"


def is_worker(process: str) -> bool:
    """Whether a process is a worker of a DataLoader."""
    return _WORKER.search(process) is not None


def compare(first: Record, second: Record, kinds: Collection[str] = RESULTS) -> Comparison:
    """Compare two records process by process, in order, up to the first difference of each.

    What workers do is not compared for itself: their batches are, where they arrive.
    """
    compared: Counter[str] = Counter()
    unread = 0
    divergences = []
    processes = [one for one in (*first.processes, *second.processes) if not is_worker(one)]
    for process in dict.fromkeys(processes):
        for pair in pairs(first, second, process, kinds):
            if (divergence := differs(process, *pair)) is not None:
                divergences.append(divergence)
                break
            compared[pair[0].kind if pair[0] else ""] += 1
            unread += pair[0] is not None and pair[0].output is None
    return Comparison(
        divergence=min(divergences, key=_rank, default=None),
        compared=compared,
        unread=unread,
        environment=difference(first.environment, second.environment),
        alone=tuple(sorted(set(first.processes) ^ set(second.processes))),
    )


def pairs(
    first: Record, second: Record, process: str, kinds: Collection[str]
) -> Iterator[tuple[Entry | None, Entry | None]]:
    """What a process did in both runs, side by side."""
    one, other = ([entry for entry in run.of_process(process) if entry.kind in kinds] for run in (first, second))
    return zip_longest(one, other)


def differs(process: str, first: Entry | None, second: Entry | None) -> Divergence | None:
    """In what two entries differ; None where they do not."""
    if first is None or second is None:
        return Divergence(process, first, second, "length")
    if first.identity != second.identity:
        return Divergence(process, first, second, "order")
    # A view of memory that nothing has written yet is no result; what reads it is compared for itself.
    if first.output != second.output and not first.detail.get("view"):
        return Divergence(process, first, second, "result")
    return None


def _rank(divergence: Divergence) -> tuple[int, bool, bool]:
    """What one rank does reaches the others: the earliest step comes first, then what differed by its own doing."""
    return (divergence.entry.step or 0, not inputs_agree(divergence), divergence.process != MAIN)


def inputs_agree(divergence: Divergence) -> bool:
    """Whether the same thing was done with the same inputs, as far as they could be read."""
    first, second = divergence.first, divergence.second
    return (
        divergence.how == "result"
        and first is not None
        and second is not None
        and first.inputs is not None
        and first.inputs == second.inputs
    )


def marks(record: Record, process: str) -> Sequence[Entry]:
    """The entries of a process that windows are counted by."""
    return [one for one in record.of_process(process) if "mark" in one.detail]
