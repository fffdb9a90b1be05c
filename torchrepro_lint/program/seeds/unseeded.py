"""Programs that draw random numbers and seed nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.program.running.entry_path import MAIN_RNGS, EntryRun, entry_runs
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.partial_seeding import first_draw
from torchrepro_lint.program.workers.workers import Effect

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededProgram", "unseeded_programs"]

_SAMPLES = re.compile(r"main|train|sampl|generat|infer|predict|eval|test|2img|nll|synth|inpaint|simulat")


@dataclass(frozen=True, slots=True)
class UnseededProgram:
    """An entry point, and the first draw from each generator with its chain."""

    run: EntryRun
    draws: tuple[tuple[str, Effect, tuple[Link, ...]], ...]


def unseeded_programs(program: Program) -> Iterator[UnseededProgram]:
    """All of them, in the order of files."""
    for run in entry_runs(program):
        if not program.is_asked(run.entry.path):
            continue
        if run.seedings or run.may_be_seeded_elsewhere:  # asked first: it takes no walk
            continue
        if not run.trains and not _SAMPLES.search(run.entry.path.stem):
            continue  # it only tries something out
        if run.seeded_on_the_way:
            continue
        draws = [(rng, *found) for rng in MAIN_RNGS if (found := first_draw(program, run, rng)) is not None]
        if any(rng == "torch" for rng, _, _ in draws) or (draws and run.trains):
            yield UnseededProgram(run, tuple(draws))
