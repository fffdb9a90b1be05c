"""Generators that a program makes for itself without a seed and draws from, although it seeds the global ones:
`np.random.default_rng()` and `random.Random()` take their first state from the system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import call_sites
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.conditions import is_none
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ExternalObject, Site, Value, Values
from torchrepro_lint.program.intent.entropy_calls import is_seeded_later, outside
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.programs.entry_path import MAIN_RNGS, EntryRun, asked_entry_runs
from torchrepro_lint.program.programs.idle_draws import is_idle
from torchrepro_lint.program.programs.run_places import comes_by, loaders_of, may_come_by
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.made_once import is_made_once
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.seeds.fallback_seeds import is_fallback
from torchrepro_lint.program.seeds.makers_without_seed import makers_without_seed
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run
from torchrepro_lint.program.seeds.seed_faults import ChangingSeed, is_innocent
from torchrepro_lint.program.workers.dataset_reseeding import reaches_dataset
from torchrepro_lint.program.workers.held_generators import drawn_objects, held_generators
from torchrepro_lint.program.workers.managers import may_seed_its_dataset

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["unseeded_generators"]


def unseeded_generators(program: Program) -> Iterator[ChangingSeed]:
    """One for each call that makes such a generator, in the order of files and text."""
    found: dict[Site, ChangingSeed] = {}
    makers = makers_without_seed(program)
    for run in asked_entry_runs(program) if makers else ():
        if program.is_test(run.entry.path):
            continue
        # To walk a program takes long; what only its workers may reach is told by what these run.
        walks = any(comes_by(program, run, one.facts, one.scope, one.call.site) for one in makers)
        if not walks and not any(may_come_by(program, run, one.facts, one.scope, one.call.site) for one in makers):
            continue
        seeded = _seeding(program, run, walks)
        if seeded is None:
            continue
        events = run.events if walks else ()
        later, seeds = _seeded_later(events), _drawn_seeds(run)
        for event in chain(events, _loaded(program, run)):
            for obj in _drawn(program, event) if event.site not in seeds else ():
                if obj not in later and obj.site is not None and obj.site not in found:
                    fault = _fault(program, obj, event, seeded)
                    if fault is not None:
                        found[obj.site] = fault
    yield from (found[site] for site in program.asked_in_order(found))


def _seeding(program: Program, run: EntryRun, walks: bool) -> Evidence | None:
    """The first call by which a program seeds the global generators, with a seed that is given."""
    seedings = [
        one
        for one in run.seedings
        if not one.seeds.isdisjoint(MAIN_RNGS) and not _is_always_none(one.values) and is_for_the_run(program, one)
    ]
    if not walks:
        reached = (one for one in seedings if comes_by(program, run, one.frame.facts, one.frame.scope, one.site.number))
        return next(reached, None)
    on_the_way = {step.event.site for step in run.steps if step.kind == "seed"} if seedings else set()
    return next((one for one in seedings if one.site in on_the_way), None)


def _seeded_later(events: Iterable[Event]) -> frozenset[Value]:
    """The objects that the program seeds or gives a state after it has made them."""
    return frozenset(
        event.receiver
        for event in events
        if event.name and event.receiver is not None
        for effect in rng_effects(event.name)
        if effect.kind in ("seed", "restore-state") and effect.rng == "receiver"
    )


def _drawn_seeds(run: EntryRun) -> frozenset[Site]:
    """The draws that are written as the seed of a call: of that seed speaks another finding."""
    return frozenset(
        Site(one.site.path, site) for one in run.seedings if one.value is not None for site in call_sites(one.value)
    )


def _loaded(program: Program, run: EntryRun) -> Iterator[Event]:
    """What the loaders of a program run to fetch items. Of the generators that workers have copies of speaks TRL107."""
    for with_workers in (False, True):
        for loader in loaders_of(program, run, with_workers=with_workers):
            if may_seed_its_dataset(loader) or reaches_dataset(program, loader):
                continue
            copied = (
                {site for held in held_generators(program, loader) for site in held.made} if with_workers else set()
            )
            for event in program.worker_run(loader).events:
                if not any(obj.site in copied for obj in drawn_objects(event) if event.name):
                    yield event.after(Link(loader.site, "the loader"))


# --- what is drawn from ------------------------------------------------------------------------------------------


def _drawn(program: Program, event: Event) -> Iterator[ExternalObject]:
    """The objects without a seed that a call draws from, where it can be no other generator."""
    if not event.name or event.call is None or event.frame is None:
        return
    objects = frozenset(drawn_objects(event))
    if not objects or is_idle(program.ev, event):
        return
    program.ev.begin_question()
    values: Values = objects
    if event.receiver in objects and isinstance(event.call.func, tree.Attribute):
        values = program.ev.values(event.call.func.value, event.frame)
    makers = [_unseeded(value) for value in ordered(values) if is_none(value) is not True]
    if None not in makers:
        yield from (made for made in makers if made is not None)


def _unseeded(value: Value) -> ExternalObject | None:
    """The object that takes its seed from the system: a generator, or the bit generator that it is made of."""
    if not isinstance(value, ExternalObject) or value.arguments is None or value.name == "torch.Generator":
        return None  # of torch's, which has a constant seed, speaks TRL203
    given = value.arguments
    if given.open_positional or given.open_keywords:
        return None
    seeds = [*given.positional, *(values for _, values, _ in given.keywords)]
    if not seeds or _is_always_none(seeds[0]):
        return value
    inner = {_unseeded(one) for one in seeds[0]}
    return inner.pop() if len(inner) == 1 else None


def _is_always_none(seed: Values) -> bool:
    return bool(seed) and all(is_none(value) is True for value in seed)


def _fault(program: Program, obj: ExternalObject, event: Event, seeded: Evidence) -> ChangingSeed | None:
    ev = program.ev
    made_at = call_at(ev, obj.site) if obj.site is not None else None
    if made_at is None or obj.site is None or event.frame is None:
        return None
    facts, scope, call, arms = made_at
    frame = frame_without_callers(ev, facts, scope)
    if any(is_seeded_later(obj, ev, one) for one in (frame, event.frame)):
        return None
    name = next(filter(None, map(outside, ordered(ev.values(call.func, frame)))), obj.name)
    nothing: frozenset[str] = frozenset()
    made = Evidence(name, "seed", None, nothing, obj.site, call, None, frozenset(), frame, arms)
    if is_innocent(program, made) or ev.exhausted:
        return None  # or who makes it is not known
    # What is made when it is first needed is no fallback: nobody else can give it.
    once = any(is_made_once(scope, *arm) for arm in arms)
    drawn = (*event.chain, Link(event.site, "draws from it"))
    return ChangingSeed(made, None, not once and is_fallback(program, made), seeded, drawn)
