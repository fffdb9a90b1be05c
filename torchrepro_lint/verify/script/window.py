"""What to look at closely in the second stage: the step that differed, and the one before."""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.verify.script.compare import Divergence, marks
from torchrepro_lint.verify.script.entries import MAIN, Entry
from torchrepro_lint.verify.script.plan import FetchWindow, Plan
from torchrepro_lint.verify.script.record import Record

_MARKS_WITHOUT_STEPS = 20


def window(records: tuple[Record, Record], divergence: Divergence) -> Plan:
    """The plan that records closely what led to the divergence of two runs; its path is still to be set."""
    told = marks(records[0], divergence.process)
    mark = divergence.entry.detail.get("mark")
    last = mark if isinstance(mark, int) else len(told)
    return Plan(
        path="",
        stage=2,
        start=_start(told, divergence.entry, last),
        stop=last + 1,
        fetches=_fetches(records, divergence),
        leave=divergence.process == MAIN and isinstance(mark, int),
    )


def _start(told: Sequence[Entry], entry: Entry, last: int) -> int:
    step = entry.step or 0
    if step > 0:
        wanted = step - 1
        first = next((one for one in told if (one.step or 0) >= wanted), None)
        return 0 if first is None or wanted == 0 else int(first.detail["mark"])
    # Where there are no steps, there is only the distance. What comes before the first mark goes with it.
    return max(0, last - _MARKS_WITHOUT_STEPS)


def _fetches(records: tuple[Record, Record], divergence: Divergence) -> tuple[FetchWindow, ...]:
    """The fetch in which a worker made the batch, and the one before; of two workers if each run had another."""
    entries = (divergence.first, divergence.second)
    found = (_fetch(record, divergence.process, one) for record, one in zip(records, entries, strict=True))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _fetch(record: Record, process: str, entry: Entry | None) -> FetchWindow | None:
    if entry is None or entry.kind != "batch" or entry.worker is None:
        return None
    loader, position = entry.detail["loader"], entry.detail["position"]
    before = sum(
        one.kind == "batch"
        and (one.epoch, one.worker, one.detail["loader"]) == (entry.epoch, entry.worker, loader)
        and one.detail["position"] < position
        for one in marks(record, process)
    )
    name = worker_name(process, entry.worker, loader)
    return FetchWindow(name, entry.epoch or 0, max(0, before - 1), before + 1)


def worker_name(process: str, worker: int, loader: int) -> str:
    """The name of the process that is this worker of a loader of `process`."""
    return f"{'' if process == MAIN else process + ', '}worker {worker} of loader {loader}"
