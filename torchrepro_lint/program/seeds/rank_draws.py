"""What the steps of a distributed training draw, where all ranks have torch's generator in one state.

Each rank has samples of its own, and draws the same numbers for them: noise, time steps and masks of one batch are
those of every other. Layers that draw by themselves, as dropout does, are left out: many programs live with that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.programs.entry_path import EntryRun, asked_entry_runs
from torchrepro_lint.program.programs.frequency import training_around
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.running.ways import Way, own_way, ways
from torchrepro_lint.program.seeds.rank_seeds import is_same_on_all_ranks
from torchrepro_lint.program.workers.ranks import start_of_ranks

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["SharedDraw", "shared_draws"]


@dataclass(frozen=True, slots=True)
class SharedDraw:
    """The first draw in the steps of a program, the place that makes it one of several ranks, and torch's seed."""

    draw: Effect
    start: Site
    seed: Evidence


def shared_draws(program: Program) -> Iterator[SharedDraw]:
    """One for each program, in the order of files and text."""
    found: dict[Site, SharedDraw] = {}
    for run in asked_entry_runs(program):
        start = start_of_ranks(program, frozenset({run.entry.path}), run.entry.path)
        seeds = [one for one in run.seedings if "torch" in one.seeds]
        if start is None or not seeds or not is_same_on_all_ranks(program, seeds):
            continue
        if not run.trains or run.may_be_seeded_elsewhere or run.incomplete:
            continue
        for draw in run.draws("torch"):
            if draw.event.site not in found and _is_of_a_step(program, run, draw):
                found[draw.event.site] = SharedDraw(draw, start, seeds[0])
                break
    yield from (found[site] for site in program.asked_in_order(found))


def _is_of_an_evaluation(frame: Frame) -> bool:
    """Whether a function draws what it generates with a trained network, by its name or by `net.eval()` in it."""
    scope = frame.scope
    if function_words("not_training").search(scope.name):
        return True
    if function_words("about_inference").search(frame.facts.path.stem):
        return True
    return any(isinstance(call.func, tree.Attribute) and call.func.attr == "eval" for call, _ in scope.calls)


def _is_of_a_step(program: Program, run: EntryRun, draw: Effect) -> bool:
    """Whether a function of torch draws numbers again and again, from the generator that all share."""
    event = draw.event
    if event.frame is None or event.call is None or not event.name.startswith("torch."):
        return False
    if event.name.startswith("torch.nn.") or event.name.endswith("randperm"):
        return False
    if any(arg.keyword == "generator" for arg in event.call.args) or not rng_effects(event.name):
        return False
    through = [link.frame.scope.name for link in event.chain if link.frame is not None]
    if _is_of_an_evaluation(event.frame) or any(map(function_words("not_training").search, through)):
        return False
    leading = ways(program.ev, event.frame.facts, event.frame.scope, event.site.number)
    return any(training_around(program, way) is not None for way in (*leading, _walked(event, event.frame)))


def _walked(event: Event, frame: Frame) -> Way:
    """The way by which the walk came to what it found: also through a call of a network, which runs its `forward`."""
    places = [(link.frame, link.site) for link in event.chain if link.frame is not None]
    inside_out = ((frame, event.site), *reversed(places))
    return tuple(one for at, site in inside_out for one in own_way(at.facts, at.scope, site.number))
