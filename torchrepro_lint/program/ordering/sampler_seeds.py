"""Samplers of a project's own that make or seed a generator whenever they are gone through, with a seed that stays.

A loader goes through its sampler once per epoch: each epoch then has the order of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ExternalObject, Instance, Site, Values
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.epoch_loops import EpochLoop, epoch_loop_over, is_for_evaluation
from torchrepro_lint.program.programs.frequency import going_on
from torchrepro_lint.program.programs.varying import varies_within
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.running.ways import own_way, ways
from torchrepro_lint.program.workers.fixed_seeds import seed_parameter, written_argument
from torchrepro_lint.program.workers.held_generators import drawn_objects, makes_generator
from torchrepro_lint.program.workers.item_seeds import is_for_evaluation as is_named_for_evaluation

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["RepeatedOrder", "repeated_orders", "samplers_in"]


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedOrder:
    """A seed that a sampler sets each time, a draw that it decides, the loader, and the epoch loop over that."""

    seed: Event
    draw: Event
    loader: Loader
    loop: EpochLoop


def repeated_orders(program: Program) -> list[RepeatedOrder]:
    """One for each such seed, in the order of files and text."""
    found: dict[Site, RepeatedOrder] = {}
    for loaders in program.loader_sites:
        for loader in loaders:
            program.ev.begin_question()
            for sampler in samplers_in(loader.value("sampler") | loader.value("batch_sampler")):
                for seed, draw in _steady_seeds(program, sampler):
                    if seed.site in found or is_for_evaluation(program, loader.facts, loader.call):
                        continue
                    loop = epoch_loop_over(program, loader)
                    if loop is not None:
                        found[seed.site] = RepeatedOrder(seed, draw, loader, loop)
    return [found[site] for site in sorted(found, key=lambda site: (str(site.path), site.number))]


def samplers_in(values: Values) -> Iterator[Instance]:
    """The samplers of the project among the values, and those that a batch sampler of a library is around."""
    for value in ordered(values):
        if isinstance(value, Instance):
            if not is_named_for_evaluation(value.cls.name):
                yield value
        elif isinstance(value, ExternalObject) and value.arguments is not None:
            named = value.arguments.keyword("sampler")
            for held in (*value.arguments.positional[:1], *([named[0]] if named is not None else [])):
                yield from samplers_in(held)


def _steady_seeds(program: Program, sampler: Instance) -> Iterator[tuple[Event, Event]]:
    """The seeds that are the same each time the sampler is gone through, each with a draw from what it seeds."""
    if _is_made_in_every_epoch(program, sampler):
        return  # with another seed, perhaps
    events = program.walker.calling(program.ev.attribute(sampler, "__iter__"))
    for index, event in enumerate(events):
        if _is_steady(program, event) and not _goes_on(program, events):
            draw = next((later for later in events[index + 1 :] if _draws_from(later, event)), None)
            if draw is not None:
                yield event, draw


def _is_made_in_every_epoch(program: Program, sampler: Instance) -> bool:
    place = place_of(program.ev, sampler.site) if sampler.site is not None else None
    if place is None:
        return True
    leading = ways(program.ev, place.facts, place.scope, place.site.number)
    return any(going_on(program, way) is not None for way in leading)


def _is_steady(program: Program, event: Event) -> bool:
    """Whether the event seeds a generator, in a method of the sampler, with what no epoch has a part in."""
    if not event.name or event.call is None or event.frame is None or not _seeds_an_object(event):
        return False
    scope = event.frame.scope
    parameter = seed_parameter(event.name)
    seed = written_argument(event, parameter) if parameter is not None else None
    if seed is None or not _has_no_parameters(scope):
        return False
    return not varies_within(program.ev, own_way(event.frame.facts, scope, event.call.site), 0, seed)


def _seeds_an_object(event: Event) -> bool:
    if makes_generator(event):
        return True
    is_seed = any(effect.kind == "seed" and effect.rng == "receiver" for effect in rng_effects(event.name))
    return is_seed and isinstance(event.receiver, ExternalObject)


def _has_no_parameters(scope: Scope) -> bool:
    """Whether a scope is a method that is given nothing: what it seeds with is all its own."""
    return scope.self_name is not None and isinstance(scope.node, tree.FunctionDef) and len(scope.node.params) == 1


def _draws_from(event: Event, seed: Event) -> bool:
    made = seed.site if makes_generator(seed) else None
    objects = drawn_objects(event) if event.name else ()
    return any(one == seed.receiver if made is None else one.site == made for one in objects)


def _goes_on(program: Program, events: Sequence[Event]) -> bool:
    """Whether the sampler never comes to an end, so that no epoch goes through it anew: `while True` around a draw."""
    return any(
        isinstance(above, tree.While)
        for event in events
        if event.call is not None and event.frame is not None
        for above in parents_of(program.ev, event.frame.facts).around(event.call)
    )
