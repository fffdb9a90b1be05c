"""What a program first draws from a generator that it leaves to chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.loaders.worker_runs import Effect, effects_of
from torchrepro_lint.program.ordering.sampler_seeds import samplers_in
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.programs.idle_draws import is_idle
from torchrepro_lint.program.programs.other_commands import are_of_different_runs
from torchrepro_lint.program.programs.run_places import loaders_of
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.seeds.demonstrations import is_of_a_demonstration
from torchrepro_lint.program.seeds.kept_draws import kept_draw
from torchrepro_lint.program.seeds.shown_draws import is_only_shown, is_outside_the_training

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["first_draw"]


def first_draw(
    program: Program,
    run: EntryRun,
    rng: str,
    left_out: frozenset[Site] = frozenset(),
    beside: Sequence[Event] = (),
    beyond: frozenset[Site] = frozenset(),
) -> tuple[Effect, tuple[Link, ...]] | None:
    """What the main process first draws from a generator, with the way there; loaders without workers count, and the
    project's samplers that loaders go through.

    What is drawn outside a training comes last. Draws at the places `left_out` do not count, nor those of commands that
    reach none of the events `beside`, nor what comes after a call at one of the places `beyond`.
    """
    outside: tuple[Effect, tuple[Link, ...]] | None = None
    for draw in run.draws(rng):
        kept = draw.event if rng != "torch" else kept_draw(run, draw.event)
        if kept is None or draw.event.site in left_out or any(link.site in beyond for link in draw.event.chain):
            continue
        if rng != "torch" and is_only_shown(program, draw.event):
            continue
        if is_of_a_demonstration(program, draw.event):
            continue
        if not beside or any(not are_of_different_runs(program.ev, run.entry, one, draw.event) for one in beside):
            found = replace(draw, event=kept), kept.chain
            if not is_outside_the_training(program, kept):
                return found
            outside = outside or found
    for loader in loaders_of(program, run, with_workers=False):
        loaded = program.worker_run(loader).draws_from(rng)
        if loaded:
            return loaded[0], (Link(loader.site, "the loader: no workers"), *loaded[0].event.chain)
    return (_drawn_by_a_sampler(program, run, rng, left_out) if rng != "torch" else None) or outside


def _drawn_by_a_sampler(
    program: Program, run: EntryRun, rng: str, left_out: frozenset[Site]
) -> tuple[Effect, tuple[Link, ...]] | None:
    """What a sampler of the project draws, which a loader goes through in the main process, with or without workers."""
    for with_workers in (False, True):
        for loader in loaders_of(program, run, with_workers=with_workers):
            for sampler in samplers_in(loader.value("sampler") | loader.value("batch_sampler")):
                for event in program.walker.calling(program.ev.attribute(sampler, "__iter__")):
                    if event.site in left_out or is_idle(program.ev, event):
                        continue
                    for effect in effects_of(event):
                        if effect.effect.kind == "draw" and effect.effect.rng == rng and effect.effect.moment == "call":
                            made = Link(loader.site, "the loader, which iterates over its sampler")
                            return effect, (made, *event.chain)
    return None
