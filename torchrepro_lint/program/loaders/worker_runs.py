"""What the worker processes of a loader run, and what it does to random number generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.knowledge.conditions import UNKNOWN as UNKNOWN_ARGUMENT
from torchrepro_lint.knowledge.conditions import Condition
from torchrepro_lint.knowledge.rng import SEEDED_TWINS, RngEffect, rng_effects
from torchrepro_lint.program.evaluation.conditions import is_none
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import Arguments, Constant, ExternalObject, Instance, Value, Values
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.option_tests import asked_at, asked_by_callers, contradict
from torchrepro_lint.program.running.reach import Event, Link, Walker

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["COLLATES", "Effect", "WorkerRun", "condition_holds", "effects_of", "is_for_what_fails", "worker_run"]


#: What the first step of a chain says that leads through the collate function.
COLLATES: Final = "the collate_fn of the loader"

# A library of an unknown version counts as its newest: only what still holds there is proven; nothing is of another
# distribution of the same modules.
_NEWEST = "9999"


@dataclass(frozen=True, slots=True)
class Effect:
    """An event together with what it does to a generator."""

    event: Event
    effect: RngEffect

    @property
    def rngs(self) -> frozenset[str]:
        """The generators that are touched."""
        return frozenset({self.effect.rng})


@dataclass(frozen=True, slots=True, eq=False)
class WorkerRun:
    """What a loader's workers run: the events of fetching items and of collating them.

    `is_cut`: the walk came to the end of its budget or passed another limit, so that there may be more.
    """

    loader: Loader
    events: tuple[Event, ...]
    is_cut: bool

    @property
    def effects(self) -> tuple[Effect, ...]:
        return tuple(effect for event in self.events for effect in effects_of(event))

    def draws_from(self, rng: str) -> list[Effect]:
        """The draws from one of the generators, the one with the shortest chain first."""
        draws = [e for e in self.effects if e.effect.kind == "draw" and rng in e.rngs and e.effect.moment == "call"]
        return sorted(draws, key=lambda e: (len(e.event.chain), str(e.event.site.path), e.event.site.number))

    @property
    def unresolved(self) -> tuple[Event, ...]:
        """The calls that could not be followed."""
        return tuple(event for event in self.events if not event.name)

    def draws_anything(self) -> bool:
        return any(e.effect.kind == "draw" for e in self.effects)


def worker_run(
    ev: Evaluator, loader: Loader, is_test: Callable[[Path], bool], chosen: Values | None = None
) -> WorkerRun:
    """Follows the dataset's `__getitem__`, `__getitems__` and `__iter__`, and the collate function. `chosen` are data
    sets in the place of those that the loader is known to be given.

    A dataset that a test has of its own tells nothing of a loader that is none of the tests'; nor does one of a library
    that a test makes, with its transforms.
    """
    walker = Walker(ev)
    found: list[Event] = []
    for value in ordered(loader.value("dataset") if chosen is None else chosen):
        home = _home_of(value)
        if home is not None and is_test(home) and not is_test(loader.facts.path):
            continue
        head = _dataset_link(value)
        found += [event.after(head) if head is not None else event for event in walker.fetching(frozenset((value,)))]
    collate = Link(loader.site, COLLATES)
    found += [event.after(collate) for event in walker.calling(loader.value("collate_fn"))]
    found = [event for event in found if not _is_excluded(ev, loader, event) and not is_for_what_fails(ev, event)]
    in_order = sorted(found, key=lambda e: (str(e.site.path), e.site.number, e.name, len(e.chain)))
    return WorkerRun(loader, tuple(in_order), ev.exhausted or ev.lacks)


def is_for_what_fails(ev: Evaluator, event: Event) -> bool:
    """Whether something is only drawn where an item cannot be read, to take another in its place: in an `except`."""
    if not any(effect.kind == "draw" for effect in rng_effects(event.name)):
        return False
    sites = (*(link.site for link in event.chain if link.frame is not None), event.site)
    places = (place_of(ev, site) for site in sites)
    return any(arm.startswith("except") for place in places if place is not None for _, arm in place.arms)


def _is_excluded(ev: Evaluator, loader: Loader, event: Event) -> bool:
    """Whether the options of the command line with which the loader is made are not those with which the event runs."""
    steps = [(link.site, link.frame) for link in event.chain]
    asked = [one for site, frame in (*steps, (event.site, event.frame)) if frame for one in asked_at(ev, site, frame)]
    if not asked:
        return False
    asked += asked_at(ev, loader.site, loader.frame)
    callers = asked_by_callers(ev, loader.frame)
    return contradict(asked) or (bool(callers) and all(contradict([*asked, *one]) for one in callers))


def _dataset_link(value: Value) -> Link | None:
    """The step from a loader to its dataset."""
    if isinstance(value, Instance) and value.site is not None:
        return Link(value.site, f"the dataset: {value.cls.name}")
    if isinstance(value, ExternalObject) and value.site is not None and value.name.startswith("torchvision."):
        return Link(value.site, f"the dataset: {last_part(value.name)}, which calls its transforms")
    return None


def _home_of(value: Value) -> Path | None:
    """The file whose dataset a value is: that of its class, else that which makes it of another package's class."""
    if isinstance(value, Instance):
        return value.cls.frame.facts.path
    return value.site.path if isinstance(value, ExternalObject) and value.site is not None else None


def effects_of(event: Event) -> Iterator[Effect]:
    """The effects of an event that its arguments do not rule out."""
    if not event.name:
        return
    for effect in rng_effects(event.name):
        if not effect.holds_at(_NEWEST) or effect.package in SEEDED_TWINS.values():
            continue
        verdicts = [condition_holds(condition, event.arguments) for condition in effect.when]
        if any(verdict is False for verdict in verdicts):
            continue
        if effect.when and any(verdict is None for verdict in verdicts):
            continue  # not proven
        if _generator_given(effect, event.arguments):
            continue
        yield Effect(event, effect)


def _generator_given(effect: RngEffect, arguments: Arguments) -> bool:
    """Whether the caller hands over a generator of its own, so that the global one is not touched."""
    parameter = effect.generator_parameter
    if parameter is None:
        return False
    given, values = argument(arguments, parameter.name, parameter.position)
    return given and not any(isinstance(value, Constant) and value.value is None for value in values)


def argument(arguments: Arguments, name: str, position: int | None) -> tuple[bool, Values]:
    """Whether an argument is, or may be, given, and what it can be."""
    keyword = arguments.keyword(name)
    if keyword is not None:
        return True, keyword[0]
    if position is not None and position < len(arguments.positional):
        return True, arguments.positional[position]
    return arguments.open_keywords or (position is not None and arguments.open_positional), frozenset()


def condition_holds(condition: Condition, arguments: Arguments) -> bool | None:
    """Whether a condition of the knowledge files holds for a call; None where its arguments do not tell."""
    given, values = argument(arguments, condition.parameter, condition.position)
    if given and not values:
        return None
    if not given:
        return condition.holds(False)
    verdicts = {
        condition.holds(True, value.value if isinstance(value, Constant) else UNKNOWN_ARGUMENT) for value in values
    }
    if condition.test in ("missing-or-none", "not-none") and None in verdicts:
        certain = {is_none(value) for value in values}
        if len(certain) == 1 and None not in certain:
            return certain.pop() is (condition.test == "missing-or-none")
    return verdicts.pop() if len(verdicts) == 1 else None
