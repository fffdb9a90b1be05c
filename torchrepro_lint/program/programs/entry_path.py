"""What a program draws and seeds on the path that runs, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.intent.command_lines import command_line_calls, command_line_names, may_seed
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.loaders.worker_runs import Effect, effects_of
from torchrepro_lint.program.programs.first_weights import brings_weights
from torchrepro_lint.program.programs.idle_draws import is_idle
from torchrepro_lint.program.programs.parts_not_made import is_of_no_part
from torchrepro_lint.program.programs.worker_seedings import is_for_workers_alone
from torchrepro_lint.program.running.entry_points import EntryPoint, entry_points
from torchrepro_lint.program.running.entry_walk import IN_TRAINING, SEEDS_NOTHING, TRAINS, EntryWalker
from torchrepro_lint.program.running.foreign_seeding import calls_foreign_seeding
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.running.ways import runs_as_script

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchrepro_lint.program.program import Program

__all__ = ["MAIN_RNGS", "EntryRun", "Step", "asked_entry_runs", "entry_runs"]

#: The generators of the main process that a program should seed.
MAIN_RNGS = ("python", "numpy", "torch")
_TRAINS = re.compile(rb"\.backward\(|optimizer\.step\(|Trainer\(|\.fit\(|\boptim\.[A-Z]\w+\(")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a program does to a generator. `kind`: "draw", "seed", "restore" for a state put back, or
    "prepare" for an estimator, which draws when it is fitted.
    """

    kind: str
    rngs: frozenset[str]
    event: Event
    order: int


class EntryRun:
    """One entry point, and what happens from there."""

    def __init__(self, program: Program, entry: EntryPoint) -> None:
        self.program = program
        self.entry = entry

    @cached_property
    def files(self) -> frozenset[Path]:
        """The entry point's file and all that it imports, directly or through others."""
        seen = {self.entry.path}
        pending = [self.entry.path]
        while pending:
            for below in self.program.imports.imported_by_file(pending.pop()):
                if below not in seen:
                    seen.add(below)
                    pending.append(below)
        return frozenset(seen)

    @cached_property
    def _walked(self) -> tuple[Sequence[Event], bool]:
        return self._walk(frozenset())

    def _walk(self, until: frozenset[Site]) -> tuple[Sequence[Event], bool]:
        ev = self.program.ev
        ev.begin_question()
        events = EntryWalker(ev, until).events(self.entry)
        return events, ev.exhausted or ev.lacks

    @property
    def incomplete(self) -> bool:
        """Whether the walk came to the end of its budget, or passed another limit."""
        return self._walked[1]

    @cached_property
    def steps(self) -> list[Step]:
        """The draws from and seedings of the main generators, in order."""
        return self._steps(self.events)

    def steps_until(self, sites: frozenset[Site]) -> list[Step]:
        """The first of `steps`, up to where something has happened at each of some places; all of them where at one of
        those nothing ever does.
        """
        if "_walked" in self.__dict__:
            return self.steps
        return self._steps(self._walk(sites)[0])

    def _steps(self, events: Sequence[Event]) -> list[Step]:
        found: list[Step] = []
        for order, event in enumerate(events):
            if event.note == IN_TRAINING and not self.trains:
                continue
            found.extend(_steps_of(event, order))
        return found

    @property
    def events(self) -> Sequence[Event]:
        """All that the program does, in order."""
        return self._walked[0]

    @cached_property
    def unseeded_processes(self) -> list[Event]:
        """The calls that start processes which begin afresh, and seed nothing; none where the file seeds when it is
        imported, which they do.
        """
        if any(step.kind == "seed" and _is_of_import(step.event) for step in self.steps):
            return []
        return [event for event in self.events if event.note == SEEDS_NOTHING]

    @property
    def seeded_on_the_way(self) -> frozenset[str]:
        """The generators that the walk seeds: also by code that the program only hands over, and never names."""
        return frozenset().union(*(step.rngs for step in self.steps if step.kind == "seed"))

    def draws(self, rng: str) -> list[Effect]:
        """What the main process draws from a generator, as far as the results of the program depend on it."""
        return [
            effect
            for step in self.steps
            if step.kind in ("draw", "prepare")
            and rng in step.rngs
            and not is_idle(self.program.ev, step.event)
            and not brings_weights(step.event)
            and not is_of_no_part(self.program.ev, step.event, self.files)
            for effect in effects_of(step.event)
            if effect.effect.rng == rng and (_is_draw(effect, "call") or _is_draw(effect, "fit"))
        ]

    @cached_property
    def seedings(self) -> list[Evidence]:
        """The seeding calls of the program: those that its files hold, and that not only workers of loaders run."""
        return [
            one
            for one in self.program.evidence
            if one.effect == "seed" and one.site.path in self.files and one.roots & self.files and self._comes_by(one)
            if not is_for_workers_alone(self.program, one)
        ]

    def _comes_by(self, one: Evidence) -> bool:
        """Whether a seeding call is not only part of the trial of a module that this program imports."""
        if self.entry.path in one.roots:
            return True
        return any(not runs_as_script(way) for way in ways_of(self.program, one))

    @cached_property
    def trains(self) -> bool:
        """Whether the program takes the steps of a training: what it builds is then what it begins with."""
        if self.program.project.holds(self.entry.path, _TRAINS):
            return True
        if any(one.facts.path == self.entry.path for one in command_line_calls(self.program)):
            return True
        if any(map(_is_by_a_call, self.seedings)) and self.finds(program_words("trains_with_a_trainer")):
            return True
        return any(event.note == TRAINS for event in self.events)

    @cached_property
    def may_be_seeded_elsewhere(self) -> bool:
        """Whether a framework that the program uses may seed, or a call of that name which could not be followed."""
        if self.finds(program_words("seeds_itself")) or self._has_seeding_command_line():
            return True
        if self.finds(program_words("seeds_by_a_call")) and not any(map(_is_by_a_call, self.seedings)):
            return True
        return calls_foreign_seeding(self.program, frozenset(self.files))

    def _has_seeding_command_line(self) -> bool:
        """Whether a command line of a framework may seed; one that is named and never called here may be anywhere."""
        if not self.finds(command_line_names()):
            return False
        calls = [one for one in command_line_calls(self.program) if one.facts.path in self.files]
        return not calls or any(may_seed(self.program, one) for one in calls)

    def finds(self, pattern: re.Pattern[bytes]) -> bool:
        """Whether the pattern finds something in the files of the program."""
        return any(self.program.project.holds(path, pattern) for path in self.files)


def _is_by_a_call(one: Evidence) -> bool:
    """Whether a framework is made with a seed, or set up with one, by which it seeds the whole program."""
    known = seeding_call(one.name)
    if known is None or one.value is None or not (known.within or known.configured_by):
        return False
    return not any(isinstance(value, Constant) and value.value is None for value in one.values)


def entry_runs(program: Program) -> Iterator[EntryRun]:
    """A run for each entry point of the project, each a question of its own."""
    for run in program.once("entry runs", lambda: [EntryRun(program, one) for one in entry_points(program)]):
        program.ev.begin_question()
        yield run


def asked_entry_runs(program: Program) -> Iterator[EntryRun]:
    """Those of `entry_runs` that reach a file whose findings somebody waits for."""
    return (run for run in entry_runs(program) if any(map(program.is_asked, run.files)))


def _steps_of(event: Event, order: int) -> Iterator[Step]:
    if not event.name:
        return
    seeding = seeding_call(event.name)
    if seeding is not None:
        yield Step("seed", seeding.seeds, event, order)
    for kind, moment in (("draw", "call"), ("prepare", "fit")):
        drawn = {effect.effect.rng for effect in effects_of(event) if _is_draw(effect, moment)}
        if drawn:
            yield Step(kind, frozenset(drawn), event, order)
    if any(effect.kind == "restore-state" for effect in rng_effects(event.name)):
        yield Step("restore", frozenset(effect.rng for effect in rng_effects(event.name)), event, order)


def _is_of_import(event: Event) -> bool:
    """Whether something happens when a file is imported: at its top level, and not under the guard of a program."""
    frame = event.frame
    if frame is None or frame.scope.parent is not None:
        return False
    around = (frame.scope.branches.get(branch) for branch, _ in frame.scope.path_at(event.site.number))
    return not any(statement is not None and is_main_guard(statement) for statement in around)


def _is_draw(effect: Effect, moment: str) -> bool:
    """Whether a main generator is drawn from. What is drawn by use is left out: a loader's transforms, samplers."""
    return effect.effect.kind == "draw" and effect.effect.rng in MAIN_RNGS and effect.effect.moment == moment
