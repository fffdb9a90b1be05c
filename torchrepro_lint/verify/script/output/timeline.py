"""The hashes of a run, step by step, as they are laid beside those of another run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

from torchrepro_lint.verify.script.entries import MAIN
from torchrepro_lint.verify.script.record import Record

Lane: TypeAlias = Literal["batch", "loss", "parameter"]
LANES: tuple[Lane, ...] = ("batch", "loss", "parameter")
Column: TypeAlias = dict[Lane, str]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Columns of hashes; each stands for `width` steps, the last one perhaps for fewer.

    `runs` holds one list of columns for each record, in their order; a lane without an entry in these steps is absent,
    and a run that ended earlier has fewer columns.
    """

    runs: tuple[list[Column], ...]
    width: int

    @property
    def columns(self) -> int:
        """The number of columns of the longest run."""
        return max(map(len, self.runs), default=0)

    def hash(self, run: int, column: int, lane: Lane) -> str | None:
        """What a run has here; None where it has nothing."""
        columns = self.runs[run]
        return columns[column].get(lane) if column < len(columns) else None

    def first_difference(self) -> int | None:
        """The first column in which some run has something else than the first run."""
        for column in range(self.columns):
            if any(len({self.hash(run, column, lane) for run in range(len(self.runs))}) > 1 for lane in LANES):
                return column
        return None

    def steps(self, column: int) -> str:
        """The steps of a column, in words."""
        first = column * self.width
        return f"step {first}" if self.width == 1 else f"steps {first} to {first + self.width - 1}"


def timeline(records: Sequence[Record], most: int) -> Timeline:
    """The main processes of some runs side by side, in at most `most` columns."""
    steps = [_steps(record) for record in records]
    width = max(1, ceil(max(map(len, steps), default=0) / most))
    columns = ([_column(of[start : start + width]) for start in range(0, len(of), width)] for of in steps)
    return Timeline(tuple(columns), width)


def _steps(record: Record) -> list[list[tuple[Lane, str]]]:
    """What was told in each step. Where no optimizer ever stepped, a step ends with each loss."""
    entries = [entry for entry in record.of_process(MAIN) if entry.kind in LANES]
    optimizer = any(entry.step for entry in entries)
    steps: list[list[tuple[Lane, str]]] = []
    losses = 0
    for entry in entries:
        # The parameters after a step are told before the next one begins.
        number = (entry.step or 0) if optimizer else losses
        steps.extend([] for _ in range(number + 1 - len(steps)))
        for lane in LANES:
            if entry.kind == lane:
                steps[number].append((lane, f"{entry.name} {entry.inputs} {entry.output}"))
        losses += entry.kind == "loss"
    return steps


def _column(steps: Sequence[Sequence[tuple[Lane, str]]]) -> Column:
    column: Column = {}
    for lane in LANES:
        told = [text for step in steps for of, text in step if of == lane]
        if told:
            column[lane] = hashlib.blake2b("\n".join(told).encode(), digest_size=8).hexdigest()
    return column
