"""Generators that the main process made and that worker code draws from: every worker has a copy in the same state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.values import ExternalObject, Instance, Site, Value
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.running.calls_at import is_in_comprehension
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.workers.dataset_reseeding import init_events, reaches_dataset
from torchrepro_lint.program.workers.managers import may_seed_its_dataset

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "GENERATOR_TYPES",
    "HeldGenerator",
    "drawn_objects",
    "generator_expression",
    "held_generators",
    "makes_generator",
    "starts_again_in_every_epoch",
]

#: The types of the generators that a program makes for itself.
GENERATOR_TYPES: Final = frozenset(
    {"numpy.random.Generator", "numpy.random.RandomState", "random.Random", "torch.Generator"}
)
#: Draws that give an order: of shards or files, say, which all workers must agree upon before each takes its part.
_ORDERS: Final = frozenset({"shuffle", "permutation", "permuted", "randperm", "sample"})


@dataclass(frozen=True, slots=True)
class HeldGenerator:
    """A generator made in the main process: its type, the places that make it, and the draws in worker code.

    A generator that several places make, such as `__init__` and `set_epoch`, is one. `draws` are in the order of text.
    """

    type: str
    made: tuple[Site, ...]
    draws: tuple[Event, ...]


def held_generators(program: Program, loader: Loader) -> list[HeldGenerator]:
    """The generators that the workers of a loader have copies of and draw from, in the order of their first draws.

    None where the loader or its `worker_init_fn` gives the dataset's objects a seed of the worker's own.
    """
    program.ev.begin_question()
    if may_seed_its_dataset(loader) or reaches_dataset(program, loader):
        return []
    run = program.worker_run(loader)
    draws = _draws(run.events)
    if not draws:
        return []
    in_workers = (*run.events, *init_events(program, loader))
    renewed = _renewed(program, in_workers)
    sharded = any(event.name in known_calls("worker_info") for event in run.events)
    found: list[HeldGenerator] = []
    for members in _groups(draws):
        group = [(event, obj) for event, obj in members if not _made_at(obj) & renewed.fallbacks]
        objects = {obj for _, obj in group}
        if any(_made_at(obj) & renewed.sites or obj in renewed.objects for obj in objects):
            continue
        if sharded and (_one_for_each_worker(program, objects) or _fixes_an_order(program, loader, group)):
            continue
        made = tuple(sorted({obj.site for obj in objects if obj.site is not None}, key=_text_order))
        if made:
            first_at = {event.site: event for event, _ in reversed(group)}
            events = tuple(first_at[site] for site in sorted(first_at, key=_text_order))
            found.append(HeldGenerator(min(obj.name for obj in objects), made, events))
    return sorted(found, key=lambda one: _text_order(one.draws[0].site))


def starts_again_in_every_epoch(program: Program, loader: Loader, held: HeldGenerator) -> bool:
    """Whether the workers of each epoch get the generator in the state in which it was made."""
    return not loader.keeps_workers and not any(_is_made_again(program, site) for site in held.made)


def _is_made_again(program: Program, site: Site) -> bool:
    """Whether a method other than `__init__` makes the generator, so that each epoch may get a new one."""
    place = place_of(program.ev, site)
    return place is not None and place.scope.self_name is not None and place.scope.name != "__init__"


def drawn_objects(event: Event) -> Iterator[ExternalObject]:
    """The generator objects that a call draws from: its receiver, or what it is handed as `generator`."""
    for effect in rng_effects(event.name):
        if effect.kind != "draw" or effect.moment != "call":
            continue
        if effect.rng == "receiver":
            if isinstance(event.receiver, ExternalObject) and event.receiver.name in GENERATOR_TYPES:
                yield event.receiver
        elif effect.generator_parameter is not None:
            parameter = effect.generator_parameter
            _, values = argument(event.arguments, parameter.name, parameter.position)
            for value in values:
                if isinstance(value, ExternalObject) and value.name in GENERATOR_TYPES:
                    yield value


def makes_generator(event: Event) -> bool:
    """Whether the call makes a generator object."""
    return any(effect.kind == "make" and effect.makes in GENERATOR_TYPES for effect in rng_effects(event.name))


def _draws(events: Iterable[Event]) -> list[tuple[Event, ExternalObject]]:
    draws: dict[tuple[Site, ExternalObject], tuple[Event, ExternalObject]] = {}
    for event in events:
        for obj in drawn_objects(event) if event.name else ():
            draws.setdefault((event.site, obj), (event, obj))
    return list(draws.values())


def _groups(draws: list[tuple[Event, ExternalObject]]) -> list[list[tuple[Event, ExternalObject]]]:
    """The draws by generator: those that share a place, or an object made at one place, draw from the same."""
    groups: list[tuple[set[Site], list[tuple[Event, ExternalObject]]]] = []
    for event, obj in draws:
        keys = {event.site} | _made_at(obj)
        joined: list[tuple[Event, ExternalObject]] = [(event, obj)]
        rest = []
        for known, members in groups:
            if known & keys:
                keys |= known
                joined = members + joined
            else:
                rest.append((known, members))
        groups = [*rest, (keys, joined)]
    return [members for _, members in groups]


def _made_at(obj: ExternalObject) -> set[Site]:
    return {obj.site} if obj.site is not None else set()


# --- what is made or seeded anew in the workers ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Renewed:
    sites: frozenset[Site]
    fallbacks: frozenset[Site]
    objects: frozenset[Value]


def _renewed(program: Program, events: Iterable[Event]) -> _Renewed:
    """The places in worker code that make a generator to keep, those that make one where a parameter brings none (what
    it does bring is none of these), and the objects that are seeded there.
    """
    sites: set[Site] = set()
    fallbacks: set[Site] = set()
    objects: set[Value] = set()
    for event in events:
        if not event.name:
            continue
        if makes_generator(event):
            (fallbacks if _is_fallback(program, event) else sites).add(event.site)
            continue
        for effect in rng_effects(event.name):
            if effect.kind in ("seed", "restore-state") and effect.rng == "receiver" and event.receiver is not None:
                objects.add(event.receiver)
    return _Renewed(frozenset(sites), frozenset(fallbacks), frozenset(objects))


def _is_fallback(program: Program, event: Event) -> bool:
    """Whether a generator is made only in case that a parameter brings none: `rng = rng or default_rng()`."""
    place = place_of(program.ev, event.site)
    if place is None or not isinstance(place.scope.node, tree.FunctionDef):
        return False
    parameters = {param.name for param in place.scope.node.params}
    for name in parameters & place.scope.bindings.keys():
        for binding in place.scope.bindings[name]:
            if binding.kind == "assign" and binding.node is not None:
                if any(node.site == event.site.number for node in walk([binding.node])):  # type: ignore[list-item]
                    return True
    return False


# --- what looks alike and is right ----------------------------------------------------------------------------


def _one_for_each_worker(program: Program, objects: Iterable[ExternalObject]) -> bool:
    """Whether a loop or comprehension makes many generators, of which each worker takes its own."""
    for obj in objects:
        place = place_of(program.ev, obj.site) if obj.site is not None else None
        if place is None:
            return False
        if not place.in_loop and not is_in_comprehension(place):
            return False
    return True


def _fixes_an_order(program: Program, loader: Loader, group: list[tuple[Event, ExternalObject]]) -> bool:
    """Whether a stream that shards itself shuffles with it: its workers must agree on the order that they share."""
    if any(last_part(event.name) not in _ORDERS for event, _ in group):
        return False
    return any(
        isinstance(value, Instance)
        and "torch.utils.data.IterableDataset" in attributes.external_bases(program.ev, value.cls)
        for value in loader.value("dataset")
    )


def _text_order(site: Site) -> tuple[str, int]:
    return str(site.path), site.number


def generator_expression(event: Event) -> tree.Expr | None:
    """The expression that stands for the generator in a draw: `self.rng` of `self.rng.normal()`."""
    if event.call is None:
        return None
    if isinstance(event.receiver, ExternalObject) and event.receiver.name in GENERATOR_TYPES:
        return event.call.func.value if isinstance(event.call.func, tree.Attribute) else None
    names = {effect.generator_parameter.name for effect in rng_effects(event.name) if effect.generator_parameter}
    return next((arg.value for arg in event.call.args if arg.keyword in names), None)
