"""Seeds that are set anew for every item: what is drawn after them is the same for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.conditions import agreed, truthiness
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ExternalObject, Instance, Value, values_of
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import effects_of
from torchrepro_lint.program.programs.frequency import runs_per_item
from torchrepro_lint.program.running.guards import (
    Guard,
    Place,
    excludes,
    guards,
    hangs_on_settings_only,
    left_before,
    place_of,
)
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.workers.fixed_seeds import SeedKind, fixed_seed
from torchrepro_lint.program.workers.held_generators import drawn_objects, makes_generator

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["ItemSeed", "is_for_evaluation", "is_in_evaluation_arm", "item_seeds", "trains"]

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class ItemSeed:
    """A seed that is the same for every item, and the first draw after it.

    `unit` says what repeats: an item, or a batch where it is the collate function that seeds.
    """

    seed: Event
    draw: Event
    kind: SeedKind
    unit: Literal["item", "batch"]


def item_seeds(program: Program, loader: Loader) -> Iterator[ItemSeed]:
    """The seeds that a loader's dataset sets for every item, or its collate function for every batch.

    Not those for evaluation, where fixed noise is meant: see `is_for_evaluation` and `is_in_evaluation_arm`.
    """
    run = program.worker_run(loader)
    if not run.is_cut and not any(map(_sets_a_seed, run.events)):
        return
    program.ev.begin_question()
    for value in ordered(loader.value("dataset")):
        head: tuple[Link, ...] = ()
        if isinstance(value, Instance):
            if is_for_evaluation(value.cls.name):
                continue
            head = (Link(value.site, f"the dataset: {value.cls.name}"),) if value.site is not None else ()
        events = program.walker.fetching(values_of(value))
        yield from _found(program, [_behind(head, event) for event in events], "item")
    yield from _found(program, program.walker.calling(loader.value("collate_fn")), "batch")


def is_for_evaluation(name: str) -> bool:
    """Whether the name of a dataset class says that it is not a training set: `TestImages`, `VideoValDataset`."""
    return function_words("evaluation").search(_HUMP.sub("_", name)) is not None


def _behind(head: tuple[Link, ...], event: Event) -> Event:
    for link in head:
        event = event.after(link)
    return event


def _found(program: Program, events: Sequence[Event], unit: Literal["item", "batch"]) -> Iterator[ItemSeed]:
    for index, event in enumerate(events):
        if not _sets_a_seed(event):
            continue
        kind = fixed_seed(program.ev, event)
        if kind is None:
            continue
        if is_in_evaluation_arm(program, event, proven=True):
            continue
        draw = _first_draw(program, events, index)
        if draw is not None:
            yield ItemSeed(event, draw, kind, unit)


def _sets_a_seed(event: Event) -> bool:
    """Whether a call makes a generator, or seeds one."""
    return bool(event.name) and (makes_generator(event) or _seeds(event))


def _seeds(event: Event) -> bool:
    return bool(_globals(event)) or _seeded_object(event) is not None


def _globals(event: Event) -> frozenset[str]:
    """The global generators that the call seeds."""
    seeding = seeding_call(event.name)
    return seeding.seeds if seeding is not None and event.receiver is None else frozenset()


def _seeded_object(event: Event) -> Value | None:
    """The generator object whose `seed` or `manual_seed` the call is."""
    if isinstance(event.receiver, ExternalObject):
        if any(effect.kind == "seed" and effect.rng == "receiver" for effect in rng_effects(event.name)):
            return event.receiver
    return None


# --- where it stands ------------------------------------------------------------------------------------------


def _places(program: Program, event: Event) -> list[Place]:
    """The places on the way to the call, and its own: where each function on the way is called."""
    sites = [link.site for link in event.chain if link.note.startswith(("calls ", "reads ", "takes "))]
    return [place for site in (*sites, event.site) if (place := place_of(program.ev, site)) is not None]


def _precedes_every_draw(program: Program, places: list[Place], others: list[Place]) -> bool:
    """Whether nothing keeps the seed from being set before each such draw, other than settings of the dataset.

    `places` lead to the seed, `others` to the draw: a test around both does not come between them.
    """
    shared = {(id(place.scope), arm) for place in others for arm in place.arms}
    if not runs_per_item(places):
        return False
    for place in places:
        for guard in guards(program.ev, place):
            if guard.arm is None or (id(place.scope), guard.arm) not in shared:
                if not hangs_on_settings_only(place.scope, guard.test):
                    return False
    return True


def is_in_evaluation_arm(program: Program, seed: Event, *, proven: bool) -> bool:
    """Whether the seed stands where, by the words of the tests around it, the dataset does not train.

    With `proven` only where the arguments with which the dataset is made decide such a test.
    """
    place = place_of(program.ev, seed.site)
    if place is None:
        return False
    for guard in (*guards(program.ev, place), *left_before(place)):
        if trains(guard.test, guard.holds) is False and (not proven or _is_proven(program, guard, seed.frame)):
            return True
    return False


def _is_proven(program: Program, guard: Guard, frame: Frame | None) -> bool:
    """Whether the test around a place is proven to come out so that the place runs."""
    if frame is None:
        return False
    if guard.arm is not None:
        return program.ev.decide((guard.arm,), frame) is True
    outcome = agreed(truthiness(program.ev, value) for value in program.ev.values(guard.test, frame))
    return outcome is guard.holds


def trains(test: tree.Expr, holds: bool) -> bool | None:
    """Whether the arm in which `test` holds, or does not, is by its words for training (True) or evaluation (False).

    None where the test is not about that.
    """
    match test:
        case tree.Unary(op="not", operand=operand):
            return trains(operand, not holds)
        case tree.Boolean(op="and", left=left, right=right) if holds:
            return next((answer for part in (left, right) if (answer := trains(part, True)) is not None), None)
        case tree.Name(id=word) | tree.Attribute(attr=word):
            about = _phase(word)
            return None if about is None else about is holds
        case tree.Compare(ops=("==" | "!=" | "in" | "not in" | "is" | "is not" as op,), comparators=(right,)):
            words = [node.value for node in walk([right]) if isinstance(node, tree.Const)]
            phases = {_phase(word) for word in words if isinstance(word, str)}
            if len(phases) != 1 or None in phases:
                return None
            return phases.pop() is (holds if op in ("==", "in", "is") else not holds)
    return None


def _phase(word: str) -> bool | None:
    """Whether a word means training (True) or evaluation (False)."""
    plain = word.lower().removeprefix("is_").removeprefix("is").strip("_")
    if function_words("means_training").fullmatch(plain):
        return True
    return False if function_words("means_evaluation").fullmatch(plain) else None


# --- the draw -------------------------------------------------------------------------------------------------


def _first_draw(program: Program, events: Sequence[Event], index: int) -> Event | None:
    """The first draw that the seed decides each time; None where there is none, or the state is put back after it."""
    seed = events[index]
    places = _places(program, seed)
    made = seed.site if makes_generator(seed) else None
    seeded = _seeded_object(seed)
    names = _globals(seed)
    if names and _is_put_back(events, index, names):
        return None
    for event in events[index + 1 :]:
        if not event.name:
            continue
        if names and _globals(event) & names:
            if fixed_seed(program.ev, event) is None:
                return None  # seeded again with something else before anything is drawn
        objects = set(drawn_objects(event))
        if made is not None:
            hit = any(obj.site == made for obj in objects)
        elif seeded is not None:
            hit = seeded in objects
        else:
            hit = any(effect.effect.kind == "draw" and effect.rngs & names for effect in effects_of(event))
        if hit:
            others = _places(program, event)
            excluded = any(excludes(mine, other) for mine in places for other in others)
            if not excluded and _precedes_every_draw(program, places, others):
                return event
    return None


def _is_put_back(events: Sequence[Event], index: int, names: frozenset[str]) -> bool:
    """Whether the state is saved before and restored after, so that the rest of the worker's stream goes on."""

    def touched(kind: str, some: Sequence[Event]) -> set[str]:
        return {effect.rng for event in some for effect in rng_effects(event.name) if effect.kind == kind}

    before, after = touched("read-state", events[:index]), touched("restore-state", events)
    forked = any(event.name == "torch.random.fork_rng" for event in events[:index])
    return bool(names & before & after) or (forked and "torch" in names)
