"""What the ranks of one run have in common and should not, and the other way round, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchrepro_lint.verify.script.entries import BEFORE_TRAINING, MAIN, Entry
from torchrepro_lint.verify.script.record import Record

_RANK = re.compile(r"rank (\d+)$")
_WORKER_OF_RANK = re.compile(r"(rank \d+), (worker \d+ of loader \d+)$")


def between_ranks(record: Record) -> Iterator[str]:
    """What is worth knowing of each rank beside rank 0: where its parameters and collectives part, and what it draws
    and reads as rank 0 does.
    """
    for process in sorted((one for one in record.processes if _RANK.match(one)), key=lambda one: int(one[5:])):
        yield from _parameters(record, process)
        yield from _collectives(record, process)
        yield from _batches(record, process)
        yield from _workers(record, process)


def _parameters(record: Record, process: str) -> Iterator[str]:
    for mine, first in zip(_of(record, process, "parameter"), _of(record, MAIN, "parameter"), strict=False):
        if mine.output != first.output:
            when = "before training" if mine.name.endswith(BEFORE_TRAINING) else f"after step {mine.step}"
            yield (
                f"the parameters of {process} are not those of rank 0 {when}: copies of one model agree, and only "
                "shards of it do not"
            )
            return


def _collectives(record: Record, process: str) -> Iterator[str]:
    for mine, first in zip(_of(record, process, "collective"), _of(record, MAIN, "collective"), strict=False):
        if mine.name != first.name:
            at = (f"{one.place.file}:{one.place.line}" if one.place is not None else "?" for one in (mine, first))
            where = " and ".join(at)
            yield f"{process} calls {mine.name} where rank 0 calls {first.name} ({where}): they wait for each other"
            return


def _batches(record: Record, process: str) -> Iterator[str]:
    mine, first = _of(record, process, "batch"), _of(record, MAIN, "batch")
    same = [one.name for one, other in zip(mine, first, strict=False) if one.output == other.output is not None]
    if same and len(same) == min(len(mine), len(first)):
        yield f"{process} is given the same batches as rank 0, from {same[0]} on: their samplers are not of a rank each"


def _workers(record: Record, process: str) -> Iterator[str]:
    for entry in record.of_kind("rng"):
        match = _WORKER_OF_RANK.match(entry.process)
        if match is None or match[1] != process:
            continue
        first = next((one for one in record.of_process(match[2]) if one.kind == "rng"), None)
        same = (
            [] if first is None else [name for name, state in entry.detail.items() if first.detail.get(name) == state]
        )
        if same:
            yield f"{match[2]} has the same state of {', '.join(same)} in {process} as in rank 0, and draws the same"
        return


def _of(record: Record, process: str, kind: str) -> list[Entry]:
    return [entry for entry in record.of_process(process) if entry.kind == kind]
