"""What a recording of the first stage tells of each order, each epoch and each generator: sequences of hashes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

from torchrepro_lint.verify.script.compare import is_worker
from torchrepro_lint.verify.script.entries import BEFORE_TRAINING, MAIN, Entry, Kind, Place
from torchrepro_lint.verify.script.record import Record

# An order of samples, the data of batches, the generators of a worker or of the process, the first weights.
About: TypeAlias = Literal["order", "batches", "worker", "generator", "weights"]
_OF_OBJECTS = ("random.Random.seed", "numpy.random.default_rng")
_COUNTED: tuple[Kind, ...] = ("batch", "loss", "parameter")


@dataclass(frozen=True, slots=True)
class Stream:
    """What a sequence is of: `name` is a loader, a worker of one, a generator or an optimizer, in a `process`."""

    about: About
    process: str
    name: str

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        where = "" if self.process == MAIN else f" in {self.process}"
        what = {
            "order": f"the order of {self.name}",
            "batches": f"the batches of {self.name}",
            "worker": f"what {self.process} draws from {self.name}",
            "generator": f"the state of {self.name}",
            "weights": f"the first weights of {self.name}",
        }[self.about]
        return what if self.about == "worker" else what + where


# By the epoch, from 0; what belongs to none is under None.
Epochs: TypeAlias = dict[int | None, tuple[str, ...]]


def streams(record: Record) -> dict[Stream, Epochs]:
    """The sequences of a recording. What could not be hashed is left out."""
    found: dict[Stream, dict[int | None, list[str]]] = {}

    def add(stream: Stream, epoch: int | None, value: str | None) -> None:
        if value is not None:
            found.setdefault(stream, {}).setdefault(epoch, []).append(value)

    begun = set()
    for entry in record.entries:
        if entry.kind == "batch":
            loader = f"loader {entry.detail.get('loader')}"
            add(Stream("order", entry.process, loader), entry.epoch, entry.inputs)
            add(Stream("batches", entry.process, loader), entry.epoch, entry.output)
        elif entry.kind == "parameter" and entry.name.endswith(BEFORE_TRAINING):
            add(Stream("weights", entry.process, entry.name.removesuffix(BEFORE_TRAINING)), None, entry.output)
        elif entry.kind == "rng":
            epoch = entry.epoch if is_worker(entry.process) else None
            if (entry.process, epoch) not in begun:
                begun.add((entry.process, epoch))
                about: About = "worker" if is_worker(entry.process) else "generator"
                for name, state in entry.detail.items():
                    add(Stream(about, entry.process, name), epoch, state)
    return {stream: {epoch: tuple(values) for epoch, values in epochs.items()} for stream, epochs in found.items()}


def shared_generators(record: Record) -> set[tuple[str, str]]:
    """The pairs of loaders of the main process that hold one generator, and are gone through at different lines: a
    loader that is made anew for each epoch is gone through at one line.
    """
    held: dict[object, dict[str, Place | None]] = {}
    for entry in record.of_process(MAIN):
        if entry.kind == "batch" and (generator := entry.detail.get("generator")) is not None:
            held.setdefault(generator, {}).setdefault(f"loader {entry.detail.get('loader')}", entry.place)
    return {
        (one, other)
        for loaders in held.values()
        for one, other in combinations(sorted(loaders), 2)
        if loaders[one] != loaders[other]
    }


def work(record: Record) -> Counter[str]:
    """How much the main process did: its batches, losses and steps."""
    return Counter(entry.kind for entry in record.of_process(MAIN) if entry.kind in _COUNTED)


def seeds(record: Record) -> dict[tuple[str, str], Entry]:
    """The calls of the main process that seed global generators with a number of its own, by function and number."""
    return {
        (entry.name, entry.shown or ""): entry
        for entry in record.of_process(MAIN)
        if entry.kind == "seed" and entry.name not in _OF_OBJECTS
        if not entry.detail.get("entropy") and entry.place is not None
    }
