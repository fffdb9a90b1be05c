"""Programs that draw random numbers and seed nothing, and processes of such a kind that a seeded program starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.programs.entry_path import MAIN_RNGS, EntryRun, asked_entry_runs, entry_runs
from torchrepro_lint.program.programs.first_weights import draws_weights
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.first_draws import first_draw
from torchrepro_lint.program.seeds.kept_draws import kept_draw
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededProcesses", "UnseededProgram", "unseeded_processes", "unseeded_programs"]

_SAMPLES: Final = function_words("draws_results")


@dataclass(frozen=True, slots=True)
class UnseededProgram:
    """An entry point, and the first draw from each generator with its chain."""

    run: EntryRun
    draws: tuple[tuple[str, Effect, tuple[Link, ...]], ...]

    @property
    def site(self) -> Site:
        return self.run.entry.site


@dataclass(frozen=True, slots=True)
class UnseededProcesses:
    """The place where a program that seeds, by `seed` among others, starts processes that do not, and what these draw
    first from each generator, with its chain. `only_weights`: they draw nothing but the first weights of models.
    """

    site: Site
    seed: Evidence
    draws: tuple[tuple[str, Effect, tuple[Link, ...]], ...]
    only_weights: bool = False


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


@cache
def _starts_afresh() -> re.Pattern[bytes]:
    return any_word(last_parts(known_calls("starts_afresh")))


def unseeded_processes(program: Program) -> Iterator[UnseededProcesses]:
    """Where programs that seed start processes which inherit nothing of that, in the order of files and text."""
    found: dict[Site, UnseededProcesses] = {}
    for run in asked_entry_runs(program):
        seeds = [one for one in run.seedings if is_for_the_run(program, one)]
        if seeds and not run.may_be_seeded_elsewhere and run.finds(_starts_afresh()):
            for one in _with_unseeded_processes(run, seeds):
                found.setdefault(one.site, one)
    yield from (found[site] for site in program.asked_in_order(found))


def _with_unseeded_processes(run: EntryRun, seeds: Sequence[Evidence]) -> Iterator[UnseededProcesses]:
    for start in run.unseeded_processes:
        draws: dict[str, tuple[Effect, tuple[Link, ...]]] = {}
        only_weights = True
        for rng in MAIN_RNGS:
            for draw in run.draws(rng):
                if not any(link.site == start.site for link in draw.event.chain):
                    continue
                kept = draw.event if rng != "torch" else kept_draw(run, draw.event)
                if kept is not None:
                    draws.setdefault(rng, (replace(draw, event=kept), kept.chain))
                    only_weights = only_weights and draws_weights(kept)
        if draws and run.trains and not run.incomplete:
            found = tuple((rng, *draws[rng]) for rng in MAIN_RNGS if rng in draws)
            yield UnseededProcesses(
                start.site, min(seeds, key=lambda one: one.seeds.isdisjoint(draws)), found, only_weights
            )
