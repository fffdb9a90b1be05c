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
    """One record of both halves: the steps of the second go on from those of the first, at its last checkpoint. What
    the first half did after that is made again, and left out.

    The parameters and weights that the second half begins with are left out: where they are not those that the first
    half ended with, its first loss says so.
    """
    steps = goes_on_from(first, second)
    kept = _until_checkpoint(first, second, steps) if repeated(first, second) is not None else first.entries
    going_on = (
        replace(entry, step=None if entry.step is None else entry.step + steps)
        for entry in second.entries
        if not (entry.kind == "parameter" and entry.name.endswith(BEFORE_TRAINING))
        if not (entry.kind == "weights" and not entry.step)
    )
    entries = _without_passes((*kept, *going_on))
    return replace(first, entries=tuple(entries), truncated=second.truncated)


def _without_passes(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        name = f"batch {entry.detail['position']}" if entry.kind == "batch" else entry.name
        yield replace(entry, name=name, epoch=None)


def _until_checkpoint(first: Record, second: Record, steps: int) -> list[Entry]:
    """What the first half did up to a step. An evaluation may follow that, and then comes what is made again: as many
    batches as the second half has before its first step.
    """
    again = sum(entry.kind == "batch" and entry.step == 0 for entry in second.of_process(MAIN))
    batches = [entry for entry in first.of_process(MAIN) if entry.kind == "batch" and entry.step == steps]
    evaluated = batches[: max(0, len(batches) - again)]
    return [entry for entry in first.entries if entry.step is None or entry.step < steps or entry in evaluated]


def goes_on_from(first: Record, second: Record) -> int:
    """The number of steps after which the second half goes on: those until the parameters that it begins with, or else
    all of the first half.
    """
    begins = {
        entry.name.removesuffix(BEFORE_TRAINING): entry.output
        for entry in second.of_process(MAIN)
        if entry.kind == "parameter" and entry.name.endswith(BEFORE_TRAINING)
    }
    told = _after_steps(first)
    found = (at for at in range(len(told), 0, -1) if begins.get(told[at - 1].name) == told[at - 1].output is not None)
    return next(found, len(told))


def repeated(first: Record, second: Record) -> tuple[int, int] | None:
    """The steps of the last checkpoint and of the first half's end, where that went on after the checkpoint."""
    steps = (goes_on_from(first, second), len(_after_steps(first)))
    return steps if steps[0] < steps[1] else None


def _after_steps(record: Record) -> list[Entry]:
    told = [entry for entry in record.of_process(MAIN) if entry.kind == "parameter"]
    return [entry for entry in told if not entry.name.endswith(BEFORE_TRAINING)]


def lost_states(whole: Record, first: Record, second: Record) -> tuple[str, ...]:
    """The RNGs that are in another state after the first step of the second half than they are in one go.

    Earlier they cannot be compared: a loader may have drawn the order of its pass already. An RNG that was not even in
    the same state when the first half ended, because nothing seeds it, has lost nothing.
    """
    steps = goes_on_from(first, second)
    before = [_states(record, steps) for record in (whole, first)]
    after = [_states(record, steps + 1) for record in (whole, joined(first, second))]
    return tuple(
        name
        for name, state in after[0].items()
        if before[0].get(name) == before[1].get(name) and state != after[1].get(name)
    )


def lost_settings(whole: Record, first: Record, second: Record) -> tuple[str, ...]:
    """What the first step of the second half is made with otherwise than in one go, in words."""
    steps = goes_on_from(first, second)
    at = (_settings(whole, steps), _settings(second, 0))
    lost = tuple(_lost(name, value, at[1].get(name)) for name, value in at[0].items() if value != at[1].get(name))
    positions = (_position(whole, steps), _position(second, 0))
    if None in positions or positions[0] == positions[1]:
        return lost
    return (*lost, _lost("the loader's next batch", *positions))


def _position(record: Record, step: int) -> object:
    """The position in its pass of the last batch before a step ends, from 0: what comes before may be an evaluation."""
    batches = [entry for entry in record.of_process(MAIN) if entry.kind == "batch" and entry.step == step]
    return batches[-1].detail["position"] if batches else None


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
