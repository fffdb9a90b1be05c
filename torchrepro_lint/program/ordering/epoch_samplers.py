"""Samplers that repeat their order until their epoch is set, and the epoch loops that forget to set it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.conditions import agreed, truthiness
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ExternalObject, Instance, Site, Values
from torchrepro_lint.program.ordering.frameworks import uses_a_framework
from torchrepro_lint.program.ordering.own_samplers import own_samplers
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.epochs import EpochRun, epoch_runs, says_evaluation
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import ways
from torchrepro_lint.program.workers.loaders import Loader
from torchrepro_lint.program.workers.workers import argument

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["ForgottenEpoch", "forgotten_epochs"]

#: A call of it, or a question after it; a sampler's own definition is neither.
_SET_EPOCH: Final = re.compile(rb"(?<!def )(?<!super\(\)\.)(?<!\w)set_epoch(?!\w)")
_LOOP: Final = re.compile(rb"for ")
_NUM_REPLICAS, _SHUFFLE = 1, 3


@dataclass(frozen=True, slots=True, eq=False)
class ForgottenEpoch:
    """A sampler, the loader that draws from it, the `for` that iterates the loader, and the epoch loop around that."""

    sampler: KnownCall
    loader: Loader
    iteration: tree.For
    facts: ModuleFacts
    run: EpochRun

    @property
    def loop(self) -> Site:
        return Site(self.run.way[self.run.index].facts.path, self.run.loop.site)


def forgotten_epochs(program: Program) -> Iterator[ForgottenEpoch]:
    """The epoch loops over a shuffling DistributedSampler whose epoch nothing in the program sets."""
    found: dict[Site, ForgottenEpoch] = {}
    names = ordering_names("epoch_samplers")
    for group in (*all_calls(program, names), *([own] for own in own_samplers(program, names))):
        program.ev.begin_question()
        sampler = next((call for call in group if _shuffles(program, call)), None)
        if sampler is None or _is_for_evaluation(program, sampler) or _is_taken_care_of(program, sampler.facts.path):
            continue
        for loader in _loaders_over(program, sampler.site):
            one = _forgotten(program, sampler, loader)
            if one is not None:
                found.setdefault(one.loop, one)
    yield from sorted(found.values(), key=lambda one: (str(one.loop.path), one.loop.number))


def _shuffles(program: Program, call: KnownCall) -> bool:
    given, values = argument(call.arguments, "shuffle", _SHUFFLE)
    return not given or (bool(values) and agreed(truthiness(program.ev, value) for value in values) is not False)


def _is_for_evaluation(program: Program, sampler: KnownCall) -> bool:
    """Whether the sampler is called after what no order matters to: `val_sampler`, `DistributedSampler(testset)`."""
    names = [name for arg in sampler.call.args[:1] for name in _names(arg.value)]
    for above in parents_of(program.ev, sampler.facts).around(sampler.call):
        match above:
            case tree.Assign(targets=targets):
                names.extend(name for target in targets for name in _names(target))
                break
            case tree.FunctionDef(name=name):
                names.append(name)
                break
    return any(says_evaluation(name) for name in names)


def _names(node: tree.Expr) -> Iterator[str]:
    match node:
        case tree.Name(id=name):
            yield name
        case tree.Attribute(attr=attr):
            yield attr
        case tree.Subscript(value=value, index=tree.Const(value=str() as text)):
            yield text
            yield from _names(value)


def _is_taken_care_of(program: Program, path: Path) -> bool:
    """Whether the programs around a file set an epoch anywhere, or use a framework that does."""
    related = program.imports.together(path)
    if any(file in related for file in program.project.matching(_SET_EPOCH)):
        return True
    return uses_a_framework(program, related)


def _loaders_over(program: Program, sampler: Site) -> Iterator[Loader]:
    for loaders in program.loader_sites:
        for loader in loaders:
            given = loader.given("sampler")[0] | loader.given("batch_sampler")[0]
            if any(_is_made_at(value, sampler) for value in given):
                yield loader
                break


def _is_made_at(value: object, site: Site) -> bool:
    if not isinstance(value, (ExternalObject, Instance)):
        return False
    if value.site == site:
        return True
    # A batch sampler around it.
    held: list[Values] = [] if value.arguments is None else [*value.arguments.positional[:1]]
    if value.arguments is not None:
        held.extend(values for name, values, _ in value.arguments.keywords if name == "sampler")
    return any(_is_made_at(inner, site) for values in held for inner in values)


# --- the loop -------------------------------------------------------------------------------------------------


def _forgotten(program: Program, sampler: KnownCall, loader: Loader) -> ForgottenEpoch | None:
    ev = program.ev
    for path in sorted(program.imports.together(loader.facts.path)):
        facts = program.facts(path) if program.project.holds(path, _LOOP) else None
        if facts is None:
            continue
        for scope, loop in _loops(program, facts):
            for frame in contexts(ev, facts, scope):
                if not _runs_over(program, loop.iter, frame, loader):
                    continue
                for run in epoch_runs(ev, ways(ev, facts, scope, loop.body[0].site)):
                    if run.loop is not loop or run.index > 0:
                        return ForgottenEpoch(sampler, loader, loop, facts, run)
                break
    return None


def _loops(program: Program, facts: ModuleFacts) -> Iterator[tuple[Scope, tree.For]]:
    loops = parents_of(program.ev, facts).loops
    for scope in facts.walk_scopes():
        for site in sorted(scope.loops):
            loop = loops.get(site)
            if isinstance(loop, tree.For) and loop.body:
                yield scope, loop


def _runs_over(program: Program, node: tree.Expr, frame: Frame, loader: Loader) -> bool:
    """Whether a `for` iterates a loader: itself, or through `enumerate`, `tqdm` and the like."""
    match node:
        case tree.Call(args=args) if args and not args[0].star:
            name = node.func.id if isinstance(node.func, tree.Name) else getattr(node.func, "attr", "")
            if name in ("enumerate", "tqdm", "iter", "zip", "track", "log_every", "trange"):
                return any(_runs_over(program, arg.value, frame, loader) for arg in args[:2])
            return False
        case tree.Name() | tree.Attribute() | tree.Subscript():
            values = program.ev.values(node, frame)
            return any(isinstance(value, ExternalObject) and value.site == loader.site for value in values)
    return False
