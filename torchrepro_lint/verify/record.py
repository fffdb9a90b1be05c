"""The record of one run: a stream of events, one JSON object a line, written as they happen.

Written by the watched process, read by the parent. A process that dies leaves the lines it had written, and no `end`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch as the program received it.

    `loader` numbers the loaders in the order of their first iteration, `epoch` the iterations over one loader,
    `position` the batches of one epoch, all from 0. `worker` is the worker's id; None in the main process. `digest`
    covers dtype, shape, bytes and their order; None where the batch holds what cannot be hashed by content. `value`
    is the batch itself where it is small.
    """

    loader: int
    epoch: int
    position: int
    worker: int | None
    digest: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Indices:
    """One draw from the sampler, in the order of the draws: the indices of one batch."""

    loader: int
    epoch: int
    indices: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended the program: all type names of its class and bases, and its text.

    `compiling` is true where the program itself does not compile.
    """

    types: tuple[str, ...]
    text: str
    compiling: bool

    @property
    def summary(self) -> str:
        """The type and the line of the text that says most."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        # torch wraps what a worker raised: the first line says where, the last one what.
        line = lines[-1] if lines and lines[0].startswith("Caught ") else (lines[0] if lines else "")
        prefix = f"{self.types[0]}: "
        return f"{self.types[0]}: {line.removeprefix(prefix)}" if line else self.types[0]


@dataclass(slots=True)
class Record:
    """All that was seen in one run. `ended` is false where the process stopped without coming to its end.

    `start_methods` are those by which loaders started worker processes, each once, in the order of their first use.
    """

    batches: list[Batch] = field(default_factory=list)
    order: list[Indices] = field(default_factory=list)
    switches: dict[str, bool] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    start_methods: list[str] = field(default_factory=list)
    shifted_seeds: int = 0
    failure: Failure | None = None
    exit_status: int | None = None
    environment: dict[str, str] = field(default_factory=dict)
    ended: bool = False


def read_record(path: Path) -> Record:
    """Read what a run has written. A missing file or a half-written last line is a record that did not end."""
    record = Record()
    for event in _events(path):
        kind = event.pop("kind", None)
        if kind == "batch":
            record.batches.append(Batch(**event))
        elif kind == "indices":
            record.order.append(Indices(**event))
        elif kind == "warning":
            record.warnings.append(event["text"])
        elif kind == "workers":
            if event["start_method"] not in record.start_methods:
                record.start_methods.append(event["start_method"])
        elif kind == "shifted-seed":
            record.shifted_seeds += 1
        elif kind == "failure":
            record.failure = Failure(tuple(event["types"]), event["text"], event["compiling"])
        elif kind == "exit":
            record.exit_status = event["status"]
        elif kind == "environment":
            record.environment = event["values"]
        elif kind == "end":
            record.switches = event["switches"]
            record.ended = True
    return record


def _events(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event
