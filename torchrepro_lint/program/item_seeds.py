"""Seeds that are set anew for every item: what is drawn after them is the same for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program import attributes
from torchrepro_lint.program.fixed_seeds import SeedKind, fixed_seed
from torchrepro_lint.program.guards import Place, excludes, guards, hangs_on_settings_only, mentions, place_of
from torchrepro_lint.program.held_generators import drawn_objects, makes_generator
from torchrepro_lint.program.loaders import Loader
from torchrepro_lint.program.reach import Event, Link
from torchrepro_lint.program.values import ExternalObject, Instance, Value, values_of
from torchrepro_lint.program.workers import effects_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["ItemSeed", "is_for_evaluation", "item_seeds"]

_LAZY_DECORATORS: Final = frozenset(
    {"cached_property", "lazy_property", "lazyproperty", "cache", "lru_cache", "cached", "memoize"}
)
#: Words in a test that chooses between training and evaluation.
_PHASES: Final = frozenset(
    {"train", "training", "is_train", "istrain", "is_training", "test", "testing", "is_test", "val", "valid",
     "validation", "is_val", "eval", "evaluation", "evaluate", "is_eval"}
)  # fmt: skip
_EVALUATION: Final = re.compile(r"(?:^|_)(?:test|val|valid|validation|eval|evaluation)(?:_|$)", re.IGNORECASE)
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

    Not those of datasets for evaluation, where fixed noise is meant: see `is_for_evaluation`.
    """
    for value in sorted(loader.value("dataset"), key=_order):
        head: tuple[Link, ...] = ()
        if isinstance(value, Instance):
            if is_for_evaluation(value.cls.name):
                continue
            head = (Link(value.site, f"the dataset: {value.cls.name}"),) if value.site is not None else ()
        events = program.walker.fetching(values_of(value))
        yield from _found(program, [_behind(head, event) for event in events], "item")
    yield from _found(program, program.walker.calling(loader.value("collate_fn")), "batch")


def is_for_evaluation(name: str) -> bool:
    """Whether the name of a dataset class says that it is no training set: `TestImages`, `VideoValDataset`."""
    return _EVALUATION.search(_HUMP.sub("_", name)) is not None


def _order(value: Value) -> tuple[str, str, int]:
    site = getattr(value, "site", None)
    return type(value).__name__, str(site.path) if site else "", site.number if site else 0


def _behind(head: tuple[Link, ...], event: Event) -> Event:
    for link in head:
        event = event.after(link)
    return event


def _found(program: Program, events: Sequence[Event], unit: Literal["item", "batch"]) -> Iterator[ItemSeed]:
    for index, event in enumerate(events):
        if not event.name or not (makes_generator(event) or _seeds(event)):
            continue
        kind = fixed_seed(program.ev, event)
        if kind is None:
            continue
        places = _places(program, event)
        if not _runs_for_every_item(program, places):
            continue
        draw = _first_draw(program, events, index, places)
        if draw is not None:
            yield ItemSeed(event, draw, kind, unit)


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


def _runs_for_every_item(program: Program, places: list[Place]) -> bool:
    """Whether nothing on the way to the seed keeps it from running for an item, other than settings of the dataset."""
    for index, place in enumerate(places):
        node = place.scope.node
        if isinstance(node, tree.FunctionDef):
            if {attributes.decorator_name(decorator) for decorator in node.decorators} & _LAZY_DECORATORS:
                return False
            # What stands before the loop of a stream runs once for each worker and epoch.
            if index == 0 and node.name == "__iter__" and not place.in_loop:
                return False
        for test, _ in guards(program.ev, place):
            if not hangs_on_settings_only(program.ev, test, place.scope):
                return False
    return not _is_evaluation_arm(program, places)


def _is_evaluation_arm(program: Program, places: list[Place]) -> bool:
    """Whether the seed stands in an arm for evaluation, and the arm is proven to run for this dataset.

    Where a configuration decides, the same dataset may be trained on as far as can be seen.
    """
    return False
