"""Programs that seed some of `random`, NumPy and torch, and draw in the main process from one that they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.dead_switches import dropped_generators
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.ordering.splits import split_sites
from torchrepro_lint.program.programs.entry_path import MAIN_RNGS, EntryRun, asked_entry_runs
from torchrepro_lint.program.programs.other_commands import are_of_different_runs
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.entry_walk import TRAINS
from torchrepro_lint.program.running.project_tests import tries_itself_out
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.running.references import known_places_of_use
from torchrepro_lint.program.running.runs_once import runs_once
from torchrepro_lint.program.running.ways import MAX_WAYS, comes_later, ways
from torchrepro_lint.program.seeds.drawn_seeds import drawn_seed
from torchrepro_lint.program.seeds.first_draws import first_draw
from torchrepro_lint.program.seeds.process_draws import process_draws
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run
from torchrepro_lint.program.seeds.seeding_places import in_two_arms, is_of_objects_made_elsewhere
from torchrepro_lint.program.seeds.shown_draws import is_outside_the_training
from torchrepro_lint.program.switches.dead_switches import dropped_in

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["PartialSeeding", "is_said_of_the_program", "is_set_by_an_import", "partial_seedings"]

_OTHERS = frozenset({"tensorflow"})
_SEEDED = _OTHERS.union(MAIN_RNGS, {"torch-cuda", "torch-device"})


@dataclass(frozen=True, slots=True)
class PartialSeeding:
    """A seeding block and the draws that it does not reach, by generator, each with its chain from the entry point.

    `other_arm`: the call that seeds torch where the block, which is for a GPU, does not run. `comes_late`: some draw
    comes before the block, so that a seed beside it would not reach that. `is_of_its_function`: the function around
    the block draws from what it seeds, and nothing that is missing is drawn while it runs. `is_inside_the_run`: some
    of it is not drawn for an evaluation alone. `programs` are the files in which the programs start.
    """

    block: Evidence
    missing: tuple[tuple[str, Effect, tuple[Link, ...]], ...]
    other_arm: Evidence | None = None
    comes_late: bool = False
    is_of_its_function: bool = False
    is_inside_the_run: bool = True
    programs: frozenset[Path] = frozenset()


def partial_seedings(program: Program) -> Iterator[PartialSeeding]:
    """One for each seeding block, in the order of files and text; what several programs draw is joined."""
    found = {one.block.site: one for one in _all_of_them(program)}
    for site in program.asked_in_order(found, lambda site: _sites_of(one[1:] for one in found[site].missing)):
        yield found[site]


def is_said_of_the_program(program: Program, frame: Frame, call: tree.Call, rng: str) -> bool:
    """Whether TRL502 says of all programs that run a call that they do not seed `rng`, from which it draws, although
    they seed another one before: what the call lacks is part of that.
    """
    entries = program.programs_of(frame) & {entry.path for entry in entry_points(program)}
    places = ways(program.ev, frame.facts, frame.scope, call.site)
    said = (
        one.programs
        for one in _all_of_them(program)
        if one.is_inside_the_run
        and any(missing == rng for missing, _, _ in one.missing)
        and not is_set_by_an_import(program, one.block)
        and not comes_later(places, ways_of(program, one.block))
    )
    return bool(entries) and entries <= frozenset().union(*said)


def is_set_by_an_import(program: Program, block: Evidence) -> bool:
    """Whether a module sets a seed where it is imported, and is no program but for trying itself out."""
    frame = block.frame
    return frame.scope is frame.facts.scope and tries_itself_out(program, frame.facts.path)


def _all_of_them(program: Program) -> Sequence[PartialSeeding]:
    return program.once("partial seedings", lambda: tuple(_partial_seedings(program)))


def _partial_seedings(program: Program) -> Iterator[PartialSeeding]:
    found: dict[Site, tuple[Evidence, dict[str, tuple[Effect, tuple[Link, ...]]]]] = {}
    other_arms: dict[Site, Evidence] = {}
    late: set[Site] = set()
    within: set[Site] = set()
    inside: set[Site] = set()
    programs: dict[Site, set[Path]] = {}
    for run in asked_entry_runs(program):
        blocks = [one for one in run.seedings if one.seeds & _SEEDED and is_for_the_run(program, one)]
        if not blocks or run.may_be_seeded_elsewhere:
            continue
        seeded = frozenset().union(*(one.seeds for one in run.seedings))
        arms = in_two_arms(run.seedings)
        if arms is not None:
            gpu, other = arms
            seeded -= {"torch"}
            blocks = [gpu]
            other_arms[gpu.site] = other
        missing = [rng for rng in MAIN_RNGS if rng not in seeded]
        if missing and arms is None:
            missing = [rng for rng in missing if rng not in run.seeded_on_the_way]
        elsewhere = split_sites(program) | _seed_sources(program, run) if missing else frozenset()
        beside = _seeded_at(run, blocks) if missing else []
        draws = {
            rng: draw
            for rng in missing
            if (draw := first_draw(program, run, rng, elsewhere, beside, _in_processes(program, rng))) is not None
        }
        if not draws or run.incomplete:
            continue
        if "torch" not in draws and all(one.seeds <= _OTHERS for one in blocks):
            continue  # a program of TensorFlow's
        # Asked last: it takes the walk, which only programs with such draws have behind them.
        blocks = [one for one in blocks if not is_of_objects_made_elsewhere(program, run, one)]
        if beside:
            drawn = [draw.event for draw, _ in draws.values()]
            blocks = [one for one in blocks if any(_run_together(program, run, one, event) for event in drawn)]
        blocks = [
            one for one in blocks if not _is_called_by_others_alone(run, one) and not _is_of_what_follows(run, one)
        ]
        if not blocks:
            continue
        block = _block(run, blocks)
        # TRL305 reports a generator that is made beside the block or the draw, and not kept or read.
        draws = {
            rng: draw
            for rng, draw in draws.items()
            if not any(_is_dropped(program, frame, rng) for frame in (block.frame, draw[0].event.frame))
        }
        if not draws:
            continue
        _, known = found.setdefault(block.site, (block, {}))
        programs.setdefault(block.site, set()).add(run.entry.path)
        for rng, draw in draws.items():
            known.setdefault(rng, draw)
        if _comes_late(run, block, [draw.event for draw, _ in draws.values()]):
            late.add(block.site)
        if any(not is_outside_the_training(program, draw.event) for draw, _ in draws.values()):
            inside.add(block.site)
        if _is_of_its_function(program, run, block, draws.values()):
            within.add(block.site)

    for site, (block, missing_draws) in found.items():
        yield PartialSeeding(
            block,
            tuple((rng, *missing_draws[rng]) for rng in MAIN_RNGS if rng in missing_draws),
            other_arms.get(site),
            comes_late=site in late,
            is_of_its_function=site in within,
            is_inside_the_run=site in inside,
            programs=frozenset(programs[site]),
        )


def _is_called_by_others_alone(run: EntryRun, block: Evidence) -> bool:
    """Whether the call sites of the function around a seed are all known, and the run reaches none of them."""
    scope = block.frame.scope
    if not isinstance(scope.node, tree.FunctionDef) or scope.parent is None or scope.parent.parent is not None:
        return False
    if any(step.kind == "seed" and step.event.site == block.site for step in run.steps):
        return False
    uses, are_all = known_places_of_use(run.program.ev, block.frame.facts, scope, MAX_WAYS)
    return bool(uses) and are_all and all(isinstance(use, tree.Call) for _, _, use in uses)


def _is_of_what_follows(run: EntryRun, block: Evidence) -> bool:
    """Whether a function sets a seed for itself after all that trains, and after all that draws from another generator:
    a regression at the end of a notebook that seeds nothing for the rest.
    """
    scope = block.frame.scope
    if scope.parent is None:
        return False
    seeds = ((step.order, step.event.frame) for step in run.steps if step.kind == "seed")
    first = min((order for order, frame in seeds if frame is not None and frame.scope is scope), default=0)
    trained = [order for order, event in enumerate(run.events) if event.note == TRAINS]
    seeded = frozenset().union(*(one.seeds for one in run.seedings if one.frame.scope is scope))
    drawn = [step.order for step in run.steps if step.kind != "seed" and not step.rngs <= seeded]
    return bool(trained) and max(*trained, *drawn, 0) < first


def _is_dropped(program: Program, frame: Frame | None, rng: str) -> bool:
    dropped = dropped_in(program, frame.facts, frame.scope) if frame is not None else ()
    return any(dropped_generators()[one.name].rng == rng for one in dropped)


def _in_processes(program: Program, rng: str) -> frozenset[Site]:
    """The calls that start processes which draw from a generator that nothing seeds there. TRL112 reports them: a seed
    in their parent would give all processes one state.
    """
    return frozenset(one.call.site for one in process_draws(program) if one.rng == rng)


def _seed_sources(program: Program, run: EntryRun) -> frozenset[Site]:
    """The draws of which a seed is made, where nothing has seeded them: TRL503 reports these."""
    sources = [source for one in run.seedings if (source := drawn_seed(program, one)) is not None]
    return frozenset(Site(source.site.path, node.site) for source in sources for node in walk([source.node]))


def _block(run: EntryRun, blocks: list[Evidence]) -> Evidence:
    """The seeding to report: the first on the path, one that seeds torch before others."""
    order = {step.event.site: step.order for step in reversed(run.steps) if step.kind == "seed"}
    return min(
        blocks,
        key=lambda one: (
            one.site not in order,
            "torch" not in one.seeds,
            order.get(one.site, 0),
            str(one.site.path),
            one.site.number,
        ),
    )


def _comes_late(run: EntryRun, block: Evidence, drawn: list[Event]) -> bool:
    """Whether one of the draws comes before the block on the path, wherever that runs."""
    seeds = [step.order for step in run.steps if step.kind == "seed" and step.event.site == block.site]
    first = min(seeds, default=0)
    return any(step.order < first and any(step.event is one for one in drawn) for step in run.steps)


def _sites_of(draws: Iterable[tuple[Effect, tuple[Link, ...]]]) -> Iterator[Site]:
    """The places of draws, and of the chains that lead to them."""
    for draw, chain in draws:
        yield from (draw.event.site, *(link.site for link in chain))


def _is_of_its_function(
    program: Program, run: EntryRun, block: Evidence, draws: Iterable[tuple[Effect, tuple[Link, ...]]]
) -> bool:
    """Whether the function around the block draws from what it seeds, and what is missing is drawn elsewhere: a seed
    beside it would begin that anew each time the function is called.
    """
    scope = block.frame.scope
    if not isinstance(scope.node, tree.FunctionDef):
        return False
    if runs_once(program.ev, block.frame.facts, scope, block.node.site):
        return False
    own = (step for step in run.steps if step.kind == "draw" and not step.rngs.isdisjoint(block.seeds))
    draws_here = any(step.event.frame is not None and step.event.frame.scope is scope for step in own)
    if not draws_here and not _draws_below(program, block):
        return False
    start, end = program.parsed(block.site.path).span(scope.node.site)
    return not any(
        site.path == block.site.path and start <= program.parsed(site.path).span(site.number)[0] < end
        for site in _sites_of(draws)
    )


def _draws_below(program: Program, block: Evidence) -> bool:
    """Whether the function around a block draws below it from what it seeds, Python's or NumPy's generator, also where
    the run does not get there.
    """
    return "torch" not in block.seeds and any(
        effect.kind == "draw" and effect.rng in block.seeds
        for call, _ in block.frame.scope.calls
        if call.site > block.site.number
        for value in program.ev.values(call.func, block.frame)
        if isinstance(value, External)
        for effect in rng_effects(value.name)
    )


def _seeded_at(run: EntryRun, blocks: list[Evidence]) -> list[Event]:
    """The events of all blocks; none where one of them has none, which code in sight does not come by."""
    sites = {one.site for one in blocks}
    events = [step.event for step in run.steps if step.kind == "seed" and step.event.site in sites]
    return events if {event.site for event in events} == sites else []


def _run_together(program: Program, run: EntryRun, one: Evidence, drawn: Event) -> bool:
    """Whether one command of the program seeds and draws."""
    return any(not are_of_different_runs(program.ev, run.entry, event, drawn) for event in _seeded_at(run, [one]))
