"""How worker code names the generators that a worker init function is to seed beside the global ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.worker_lines import WorkerTarget
from torchrepro_lint.knowledge.reseeding import Reseeding, library_reseeding, object_reseeding
from torchrepro_lint.program.evaluation.values import ExternalObject, Value
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.workers.dataset_paths import dataset_paths
from torchrepro_lint.program.workers.held_generators import HeldGenerator, generator_expression
from torchrepro_lint.program.workers.library_rngs import LibraryDraw

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.program import Program

__all__ = ["held_targets", "library_target", "may_lack"]


def held_targets(program: Program, loader: Loader, held: Sequence[HeldGenerator]) -> tuple[WorkerTarget, ...] | str:
    """The generators of a loader's dataset or modules, as worker code reaches them; or why it cannot."""
    targets: list[WorkerTarget] = []
    for one in held:
        reseeding = object_reseeding(one.type)
        if reseeding is None:
            return f"nothing is known that seeds a {one.type}"
        places = [(event, generator_expression(event)) for event in one.draws]
        target = _held_target(program, loader, reseeding, places, _made_at(one.made))
        if isinstance(target, str):
            return target
        if not reseeding.replaces and any(other.reseeding == reseeding for other in targets):
            return f"the dataset holds several objects of {one.type}, and each needs a seed of its own"
        targets.append(target)
    return tuple(targets)


def library_target(program: Program, loader: Loader, draw: LibraryDraw) -> WorkerTarget | str:
    """The generator that a library draws from, as worker code reaches it; or why it cannot."""
    if draw.effect.rng == "fresh":
        return "it makes a generator from entropy for each call: give the call a seed"
    reseeding = library_reseeding(draw.effect.rng)
    if reseeding is not None:
        return WorkerTarget(reseeding)
    part = draw.event.receiver
    pipeline = next(filter(None, map(object_reseeding, _pipelines(draw.effect.package))), None)
    if part is None or pipeline is None:
        return "no way of seeding it is known"

    def is_wanted(value: Value) -> bool:
        return isinstance(value, ExternalObject) and value.name == pipeline.name and draw.is_held_by(value)

    call = draw.event.site
    used = program.ev.project.facts(call.path)
    names = _globals_that_hold(program, used, is_wanted) if used is not None else []
    if len(names) == 1:
        return WorkerTarget(pipeline, global_name=names[0], path=call.path)
    return _held_target(program, loader, pipeline, [(draw.event, None)], is_wanted)


def _pipelines(package: str) -> tuple[str, ...]:
    return f"{package}.Compose", f"{package}.transforms.Compose"


def _globals_that_hold(program: Program, facts: ModuleFacts, is_wanted: Callable[[Value], bool]) -> list[str]:
    """The variables of a module that are bound to a wanted object."""
    frame = program.ev.module_frame(facts)
    return [
        name
        for name, bindings in facts.scope.bindings.items()
        for binding in bindings
        if binding.kind == "assign" and isinstance(binding.node, tree.Call)
        and any(is_wanted(value) for value in program.ev.values(binding.node, frame))
    ]  # fmt: skip


def _held_target(
    program: Program,
    loader: Loader,
    reseeding: Reseeding,
    places: Sequence[tuple[Event, tree.Expr | None]],
    is_wanted: Callable[[Value], bool],
) -> WorkerTarget | str:
    """How worker code names an object. `places`: where it is used, and how it is called there."""
    names = {_global_name(program, event.site, expression) for event, expression in places}
    if len(names) > 1:
        return "it is drawn from under several names"
    (name,) = names
    if name is not None:
        return WorkerTarget(reseeding, global_name=name, path=places[0][0].site.path)
    paths = dataset_paths(program.ev, loader.value("dataset"), is_wanted)
    if len(paths) != 1:
        return (
            "several attributes of the dataset hold it"
            if paths
            else "it is not known which attribute of the dataset holds it"
        )
    return WorkerTarget(reseeding, attribute=next(iter(paths)))


def _made_at(sites: Collection[Site]) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, ExternalObject) and value.site in sites


def _global_name(program: Program, site: Site, expression: tree.Expr | None) -> str | None:
    """The module's variable by whose name an object is used at a place; None if it is used otherwise."""
    place = place_of(program.ev, site)
    if not isinstance(expression, tree.Name) or place is None:
        return None
    scope = place.scope
    while scope.parent is not None:
        if expression.id in scope.bindings and not isinstance(scope.node, tree.ClassDef):
            return None
        scope = scope.parent
    bindings = scope.bindings.get(expression.id, ())
    return expression.id if any(one.kind == "assign" and isinstance(one.node, tree.Call) for one in bindings) else None


def may_lack(program: Program, loader: Loader, target: WorkerTarget) -> bool:
    """Whether a target lies in the dataset, and that of a loader is not known to have it."""

    def is_such(value: Value) -> bool:
        return isinstance(value, ExternalObject) and value.name == target.reseeding.name

    return bool(target.attribute) and target.attribute not in dataset_paths(
        program.ev, loader.value("dataset"), is_such
    )
