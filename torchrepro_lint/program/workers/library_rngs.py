"""Draws of worker code from generators that libraries keep for themselves and that torch does not seed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.generators import library_generators
from torchrepro_lint.knowledge.old_names import needs_of
from torchrepro_lint.knowledge.rng import SEEDED_TWINS, RngEffect, rng_effects
from torchrepro_lint.knowledge.versions import admits
from torchrepro_lint.program.evaluation.calls import external_argument
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, SequenceValue, Value, union
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import condition_holds
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.workers.managers import may_seed_its_dataset
from torchrepro_lint.program.workers.old_releases import newest_release
from torchrepro_lint.source.package_versions import BEYOND_ALL, declared_versions, is_declared, surely_in

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LibraryDraw", "has_effect", "is_of_a_guessed_version", "library_draws"]


@dataclass(frozen=True, slots=True)
class LibraryDraw:
    """A draw from a library's own generator, with what is known about it."""

    event: Event
    effect: RngEffect

    @property
    def shown(self) -> str:
        """What draws, with the versions of its package that do: "`albumentations.Blur` (albumentations >=1.4.21)"."""
        versions = f" ({self.effect.package} {self.effect.versions})" if self.effect.versions else ""
        return f"`{self.event.name.removesuffix('.__call__')}`{versions}"

    def is_held_by(self, value: Value) -> bool:
        """Whether a value is the object that draws, or a pipeline with it."""
        drawing = self.event.receiver
        return (
            drawing is not None and isinstance(value, ExternalObject) and (value == drawing or _holds(value, drawing))
        )


def library_draws(program: Program, loader: Loader) -> list[LibraryDraw]:
    """The draws of a loader's workers from generators of libraries, that with the shortest chain first.

    Not those that the code reseeds, those of a version that torch's seed reaches, and those that the loader seeds.
    """
    events = program.worker_run(loader).events
    reseeded = {effect.rng for event in events for effect in rng_effects(event.name) if effect.kind == "seed"}
    found: list[LibraryDraw] = []
    for event in events:
        effect = _library_effect(program, event) if event.name else None
        if effect is None or effect.rng in reseeded or ("receiver" in reseeded and effect.rng == "own"):
            continue
        if effect.package == loader.known.package and may_seed_its_dataset(loader):
            continue
        if draws_at_random(event) and not (effect.rng == "own" and _made_in_worker(program, event)):
            found.append(LibraryDraw(event, effect))
    return sorted(found, key=lambda d: (len(d.event.chain), str(d.event.site.path), d.event.site.number))


def is_of_a_guessed_version(program: Program, draw: LibraryDraw) -> bool:
    """Whether only some versions of a package draw so, and the project names none: it may run with another."""
    package = draw.effect.package
    return draw.effect.versions is not None and not declared_versions(program.root, package)


def _library_effect(program: Program, event: Event) -> RngEffect | None:
    made = event.receiver.site if isinstance(event.receiver, ExternalObject) else None
    path = (made or event.site).path
    for effect in rng_effects(event.name):
        if effect.kind != "draw" or effect.moment != "call" or effect.rng not in library_generators():
            continue
        if not has_effect(program.root, effect, newest_release(program, path, effect.package)):
            continue
        if all(condition_holds(condition, event.arguments) for condition in effect.when):
            return effect
    return None


def has_effect(root: Path, effect: RngEffect, newest: str | None = None) -> bool:
    """Whether a version of the package that the project may run with has the effect.

    Where the project names no version, it is the newest that counts, of all and of those that run beside what else the
    project asks for (`numpy==1.21`). Where the file takes from the package what the newest no longer has (`newest` is
    the last that did), it runs with an older one, and nobody can tell with which.
    """
    twin = SEEDED_TWINS.get(effect.package)
    if twin is not None and is_declared(root, twin):
        return False
    if effect.versions is None:
        return True
    declared = declared_versions(root, effect.package)
    if newest is not None and not declared:
        return False
    pins = tuple(one for one in declared if one.startswith("=="))
    last = BEYOND_ALL if pins else newest or BEYOND_ALL
    for need in needs_of(effect.package) if not pins else ():
        if admits(f">{need.last}", last) and surely_in(root, need.other, f"<{need.since}"):
            last = need.last
    candidates = [last, *re.findall(r"\d+(?:\.\d+)*", " ".join((effect.versions, *declared)))]
    return any(
        admits(f"<={last}", version) and admits(specifier, version) and effect.holds_at(version)
        for specifier in pins or declared or (None,)
        for version in (candidates if declared else (last,))
    )


def draws_at_random(event: Event) -> bool:
    """Whether a pipeline object holds anything that draws; what is not a pipeline, or cannot be looked into, draws."""
    value = event.receiver
    return not isinstance(value, ExternalObject) or _is_random(value)


def _is_random(value: ExternalObject) -> bool:
    if value.name not in known_calls("draws_as_its_parts"):
        return any(effect.kind == "draw" for effect in rng_effects(f"{value.name}.__call__"))
    known = external_callable(value.name)
    if known is None or value.arguments is None:
        return True
    order, _ = external_argument(value.arguments, known.parameters, "random_order")
    if not all(isinstance(one, Constant) and not one.value for one in order):
        return True
    children, _ = external_argument(value.arguments, known.parameters, "children")
    for child in children:
        members = child.elements() if isinstance(child, SequenceValue) else frozenset((child,))
        for member in members:
            if not isinstance(member, ExternalObject) or _is_random(member):
                return True
    return not children


def _holds(pipeline: ExternalObject, part: Value) -> bool:
    """Whether `part` is in a list that the pipeline is made of."""
    if pipeline.arguments is None:
        return False
    given = union(*pipeline.arguments.positional, *(values for _, values, _ in pipeline.arguments.keywords))
    inner = [value.elements() if isinstance(value, SequenceValue) else {value} for value in given]
    found = {value for values in inner for value in values}
    return part in found or any(isinstance(value, ExternalObject) and _holds(value, part) for value in found)


def _made_in_worker(program: Program, event: Event) -> bool:
    """Whether the object that draws is made by a function on the way to the draw: so anew, from entropy, each time."""
    if not isinstance(event.receiver, ExternalObject) or event.receiver.site is None:
        return False
    place = place_of(program.ev, event.receiver.site)
    node = place.scope.node if place is not None else None
    on_the_way = {(link.site.path, link.site.number) for link in event.chain}
    return node is not None and (event.receiver.site.path, node.site) in on_the_way
