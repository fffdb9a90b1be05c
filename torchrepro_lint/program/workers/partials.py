"""The `functools.partial` of a class of loaders that a call takes part of its arguments from: where it is written, and
whether it makes one loader alone.

    make = partial(DataLoader, batch_size=4, shuffle=True)
    train, validation = make(images), make(others)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.loaders import loader_class
from torchrepro_lint.program.evaluation.values import ClassValue, External, Partial, Value
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.frequency import Often, frequency
from torchrepro_lint.program.programs.several import makes_several
from torchrepro_lint.program.running.callers import called_name, contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["PartialPlace", "calls_loaders_alone", "makes_one_loader", "partial_of"]


@dataclass(frozen=True, slots=True)
class PartialPlace:
    """Where a `functools.partial` of a class of loaders is written."""

    facts: ModuleFacts
    scope: Scope
    call: tree.Call


def calls_loaders_alone(program: Program, loader: Loader) -> bool:
    """Whether what the call of a loader calls is, for every caller of its function, a class of loaders or a `partial`
    of one, so that the call may be given one more argument that loaders take.
    """
    ev = program.ev
    frames = {loader.frame, *contexts(ev, loader.facts, loader.scope)}
    values = [ev.values(loader.call.func, frame) for frame in frames if _comes_to(program, loader, frame)]
    return all(found and all(_makes_loaders(one) for one in found) for found in values)


def _comes_to(program: Program, loader: Loader, frame: object) -> bool:
    path = next((path for call, path in loader.scope.calls if call is loader.call), ())
    return program.ev.may_run(loader.call.site, path, frame)  # type: ignore[arg-type]


def _makes_loaders(value: Value) -> bool:
    match value:
        case External(name=name):
            return loader_class(name) is not None
        case Partial(function=functions):
            return bool(functions) and all(_makes_loaders(one) for one in functions)
    return isinstance(value, ClassValue)


def partial_of(program: Program, loader: Loader) -> PartialPlace | None:
    """Where the `partial` of a loader is written, if that is one place."""
    if loader.made_with is None:
        return None
    places = {id(place.call): place for place in _places(program, loader.made_with)}
    return next(iter(places.values())) if len(places) == 1 else None


def _places(program: Program, wanted: Partial) -> Iterator[PartialPlace]:
    ev = program.ev
    for path in program.project.containing("partial"):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for call, _ in scope.calls:
                if called_name(call.func) != "partial":
                    continue
                if any(wanted in ev.values(call, frame) for frame in contexts(ev, facts, scope)):
                    yield PartialPlace(facts, scope, call)


def makes_one_loader(program: Program, loader: Loader) -> bool:
    """Whether the `partial` of a loader makes no other one in a run: one call calls it, which is come to once."""
    made = [one for one in program.loaders if one.made_with == loader.made_with]
    if any(one.site != loader.site for one in made):
        return False
    place = (program, loader.facts, loader.scope, loader.call.site)
    return frequency(*place).often is Often.ONCE and not makes_several(*place)
