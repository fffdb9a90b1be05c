"""Two halves of a training laid end to end, as if nothing had come between them.

The script offers it by its own options: one command line that makes the first half and leaves a checkpoint, and one
that goes on from it. What it does in both halves together is compared with what it does in one go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchrepro_lint.verify.script.entries import BEFORE_TRAINING, MAIN, Entry
from torchrepro_lint.verify.script.record import Record


def in_one_go(record: Record) -> Record:
    """A record of the whole, to be held against two halves.

    Passes over loaders are not told apart: a process counts its loaders and their passes from 0, and a program may make
    a loader anew for each pass.
    """
    return replace(record, entries=tuple(_without_passes(record.entries)))


def joined(first: Record, second: Record) -> Record:
    """One record of both halves: the steps of the second go on from those of the first.

    The parameters and weights that the second half begins with are left out: where they are not those that the first
    half ended with, its first loss says so.
    """
    steps = _steps(first)
    going_on = (
        replace(entry, step=None if entry.step is None else entry.step + steps)
        for entry in second.entries
        if not (entry.kind == "parameter" and entry.name.endswith(BEFORE_TRAINING))
        if not (entry.kind == "weights" and not entry.step)
    )
    entries = _without_passes((*first.entries, *going_on))
    return replace(first, entries=tuple(entries), truncated=second.truncated)


def _without_passes(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        name = f"batch {entry.detail['position']}" if entry.kind == "batch" else entry.name
        yield replace(entry, name=name, epoch=None)


def _steps(record: Record) -> int:
    """How many optimizer steps the main process finished."""
    told = [entry for entry in record.of_process(MAIN) if entry.kind == "parameter"]
    return sum(not entry.name.endswith(BEFORE_TRAINING) for entry in told)


def lost_states(whole: Record, first: Record, second: Record) -> tuple[str, ...]:
    """The RNGs that are in another state after the first step of the second half than they are in one go.

    Earlier they cannot be compared: a loader may have drawn the order of its pass already. An RNG that was not even in
    the same state when the first half ended, because nothing seeds it, has lost nothing.
    """
    steps = _steps(first)
    before = [_states(record, steps) for record in (whole, first)]
    after = [_states(record, steps + 1) for record in (whole, joined(first, second))]
    return tuple(
        name
        for name, state in after[0].items()
        if before[0].get(name) == before[1].get(name) and state != after[1].get(name)
    )


def lost_settings(whole: Record, first: Record, second: Record) -> tuple[str, ...]:
    """What the first step of the second half is made with otherwise than in one go, in words."""
    at = (_settings(whole, _steps(first)), _settings(second, 0))
    return tuple(_lost(name, value, at[1].get(name)) for name, value in at[0].items() if value != at[1].get(name))


def _lost(name: str, whole: object, resumed: object) -> str:
    if name.startswith("the state of "):
        return f"{name} is {'empty' if resumed in (None, 'none') else 'another one'} after resuming"
    return f"{name} is {whole} in one go and {'not there' if resumed is None else resumed} after resuming"


def _settings(record: Record, step: int) -> dict[str, object]:
    told: dict[str, object] = {}
    for entry in record.of_process(MAIN):
        if entry.kind == "settings" and entry.step == step:
            told.update(entry.detail)
    return told


def _states(record: Record, step: int) -> dict[str, str]:
    for entry in record.of_process(MAIN):
        if entry.kind == "rng" and entry.step == step:
            return dict(entry.detail)
    return {}
