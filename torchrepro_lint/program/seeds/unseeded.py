"""Programs that draw random numbers and seed nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.entry_path import MAIN_RNGS, EntryRun, entry_runs
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.first_draws import first_draw
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.program.workers.workers import Effect

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededProgram", "unseeded_programs"]

_SAMPLES = re.compile(r"main|train|sampl|generat|infer|predict|eval|test|2img|nll|synth|inpaint|simulat")


@dataclass(frozen=True, slots=True)
class UnseededProgram:
    """An entry point, and the first draw from each generator with its chain. `child` is the place where the program,
    which seeds, starts processes that do not.
    """

    run: EntryRun
    draws: tuple[tuple[str, Effect, tuple[Link, ...]], ...]
    child: Site | None = None

    @property
    def site(self) -> Site:
        return self.child or self.run.entry.site


def unseeded_programs(program: Program) -> Iterator[UnseededProgram]:
    """All of them, in the order of files."""
    for run in entry_runs(program):
        if not program.is_asked(run.entry.path):
            continue
        if run.seedings and not run.may_be_seeded_elsewhere and run.finds(_starts_afresh()):
            yield from _with_unseeded_processes(run)
        if run.seedings or run.may_be_seeded_elsewhere:  # asked first: it takes no walk
            continue
        if not run.trains and not _SAMPLES.search(run.entry.path.stem):
            continue  # it only tries something out
        if run.seeded_on_the_way:
            continue
        draws = [(rng, *found) for rng in MAIN_RNGS if (found := first_draw(program, run, rng)) is not None]
        if any(rng == "torch" for rng, _, _ in draws) or (draws and run.trains):
            yield UnseededProgram(run, tuple(draws))


@cache
def _starts_afresh() -> re.Pattern[bytes]:
    return any_word(last_parts(known_calls("starts_afresh")))


def _with_unseeded_processes(run: EntryRun) -> Iterator[UnseededProgram]:
    """What a program that seeds draws in processes that inherit nothing of that."""
    for start in run.unseeded_processes:
        draws = {
            rng: (draw, draw.event.chain)
            for rng in MAIN_RNGS
            for draw in run.draws(rng)[::-1]
            if any(link.site == start.site for link in draw.event.chain)
        }
        if draws and run.trains and not run.incomplete:
            found = tuple((rng, *draws[rng]) for rng in MAIN_RNGS if rng in draws)
            yield UnseededProgram(run, found, start.site)
