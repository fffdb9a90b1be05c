"""The canonical seeding code for a loader of the program: what `seeding.py` inserts, planned from the facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.fixes.documents import document_of, function_of
from torchrepro_lint.fixes.going_on import goes_on, steps_what_is_kept
from torchrepro_lint.fixes.importable import existing_init, other_homes
from torchrepro_lint.fixes.passed_seed import passed_seeds
from torchrepro_lint.fixes.placement import is_epoch_loop
from torchrepro_lint.fixes.program_seed import torch_seed_of
from torchrepro_lint.fixes.seeding import Declined, plan_worker_seeding
from torchrepro_lint.fixes.seeding_request import LoaderNeeds, Ranks, Surroundings
from torchrepro_lint.fixes.spread_options import keywords_in_spread
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders
from torchrepro_lint.fixes.worker_lines import WorkerTarget
from torchrepro_lint.knowledge.reseeding import loader_reseeding
from torchrepro_lint.program.running.callers import visible_calls
from torchrepro_lint.program.running.epochs import is_one_step
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.seeds.torch_seeds import torch_seed_at
from torchrepro_lint.program.workers.global_draws import may_want_generator
from torchrepro_lint.program.workers.loaders import Loader
from torchrepro_lint.program.workers.managers import may_seed_its_dataset
from torchrepro_lint.program.workers.ranks import distributed_start

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.program import Program

__all__ = ["is_distributed", "loader_fix", "surroundings"]

_DISTRIBUTED = re.compile(rb"init_process_group|DistributedSampler|DistributedDataParallel")
#: Lightning starts a process for each device, by an argument of its Trainer that may be anywhere.
_LIGHTNING = re.compile(rb"\bLightning(?:Data)?Module\b")
_MAX_CALLERS = 3


def loader_fix(
    program: Program,
    loader: Loader,
    *,
    init: bool,
    generator: bool,
    also_seeds: Sequence[WorkerTarget] = (),
    by_rank: bool = False,
) -> tuple[Fix | None, str | None]:
    """The fix that passes a worker init function and a seeded generator to the loader, or why there is none.

    `also_seeds`: what the function has to seed beside the global generators. `by_rank`: the generator has another seed
    on each rank. Neither for a loader in a file that nobody asks about.
    """
    if not program.is_asked(loader.facts.path):
        return None, None
    wanted = [name for name, asked in (("worker_init_fn", init), ("generator", generator)) if asked]
    known = loader.known
    if (init and not known.takes_worker_init_fn) or (generator and not known.takes_generator):
        return None, f"{known.qualname} takes no {' or '.join(wanted)}"
    if any(known.keywords.get(name) != name for name in wanted):  # type: ignore[call-overload]
        return None, f"{known.qualname} names its arguments differently"
    if loader.is_handed_on_to and not _subclass_takes(program, loader, wanted):
        assert loader.cls is not None
        return None, f"{loader.cls.name} does not hand {' and '.join(wanted)} on to DataLoader"
    document = document_of(program, loader.facts.path)
    span = program.parsed(loader.facts.path).span(loader.call.site)
    call = document.node_at(*span, cst.Call)
    if call is None:
        return None, "the call could not be located"
    if init and generator and not also_seeds and not torch_seed_at(program, loader.site).seeded:
        # The init function is what the workers need; a seed, which nobody chose, is not.
        generator = False
        wanted.remove("generator")
    if init:
        also_seeds = (*_seeding_of_its_own(loader), *also_seeds)
    starts_ranks = distributed_start(program, loader) is not None or _holds(program, loader.facts.path, _LIGHTNING)
    needs = LoaderNeeds(
        init=init,
        generator=generator,
        existing_init=existing_init(program, loader.facts.path) if init and not also_seeds else None,
        also_seeds=also_seeds,
        workers_draw=not loader.lacks("worker_init_fn") or program.worker_run(loader).draws_anything(),
        may_hold=keywords_in_spread(program, loader),
    )
    ranks = Ranks(
        mentioned=starts_ranks or is_distributed(program, loader.facts.path), started=starts_ranks, in_seed=by_rank
    )
    around = surroundings(program, loader.facts, loader.scope)
    plan = plan_worker_seeding(document, call, needs, around, ranks)
    if isinstance(plan, Declined) and init and generator:
        # Without a generator the loader draws from torch's, as before: the workers get what they need all the same.
        alone = plan_worker_seeding(document, call, replace(needs, generator=False), around, ranks)
        if not isinstance(alone, Declined):
            plan, wanted = alone, ["worker_init_fn"]
    if isinstance(plan, Declined):
        return None, plan.reason
    words = {"worker_init_fn": "a worker init function", "generator": "a seeded generator"}
    message = f"Pass {' and '.join(words[name] for name in wanted)}"
    after = other_homes(program, loader.facts.path) if init and not also_seeds else frozenset()
    return Fix(plan.applicability, message, plan.edits, after), None


def _seeding_of_its_own(loader: Loader) -> Iterator[WorkerTarget]:
    """What the loader's class does in its workers only as long as it is given no worker init function."""
    reseeding = loader_reseeding(loader.known.package) if may_seed_its_dataset(loader) else None
    if reseeding is not None:
        yield WorkerTarget(reseeding)


def surroundings(program: Program, facts: ModuleFacts, scope: Scope) -> Surroundings:
    """What is known about the program around a call in `scope` that gets a generator."""
    return Surroundings(
        seed=program.settings.seed,
        repeated=_is_repeated(program, facts, scope),
        passed=passed_seeds(program, facts, scope),
        known=_known_loaders(program, facts.path),
        torch_seed=torch_seed_of(program, facts.path),
    )


def _known_loaders(program: Program, path: Path) -> KnownLoaders:
    """The calls in a file that make loaders, and whether one of each may want a generator; none does where the class
    gives its loader the arguments itself.
    """

    def find() -> KnownLoaders:
        made = {one.made_by for loaders in program.loader_sites for one in loaders if one.made_by is not None}
        spans = program.parsed(path)
        wants = {spans.span(site.number): False for site in made if site.path == path}
        for loaders in program.loader_sites:
            if loaders[0].facts.path == path:
                wants[spans.span(loaders[0].call.site)] = any(may_want_generator(program, one) for one in loaders)
        return KnownLoaders(document_of(program, path), wants)

    return program.once(("known loaders", path), find)


def _subclass_takes(program: Program, loader: Loader, wanted: list[str]) -> bool:
    """Whether the `__init__` of a project subclass passes such keywords on."""
    assert loader.cls is not None
    from torchrepro_lint.program.evaluation.attributes import find_method
    from torchrepro_lint.program.evaluation.values import FunctionValue

    found = find_method(program.ev, loader.cls, "__init__")
    if found is None:
        return True
    for value in found[1]:
        if isinstance(value, FunctionValue):
            names = {param.name for param in value.node.params}
            spreads = any(param.kind == "double-star" for param in value.node.params)
            return spreads or all(name in names for name in wanted)
    return False


def _is_repeated(program: Program, facts: ModuleFacts, scope: Scope) -> bool | None:
    """Whether the function `scope` runs in an epoch loop of another file (True), or in no loop (False). None where the
    file itself has to say, which holds the loop, or where no call of the function is visible. `__iter__` runs whenever
    an epoch begins, and what takes one step of an optimizer is called for each.
    """
    function = function_of(scope)
    if function is not None and isinstance(function.node, tree.FunctionDef) and function.node.name == "__iter__":
        return True
    if function is not None and is_one_step(program.ev, facts, function):
        return True
    calls = visible_calls(program.ev, facts, function) if function is not None else []
    if function is None or not calls:
        return None
    if _runs_per_epoch(program, facts, function, 0, by_round=False):
        return True
    return None if any(_in_loop(call, frame) for call, frame in calls) else False


def _runs_per_epoch(program: Program, facts: ModuleFacts, function: Scope, depth: int, *, by_round: bool) -> bool:
    """Whether a call of a function, or of one that calls it, is in an epoch loop of a file other than its own. A
    training is repeated by rounds only: `by_round` once the way out has come by one.
    """
    is_part = not by_round and _steps_what_is_kept(program, facts, function)
    by_round = by_round or _is_training(program, facts, function)
    for call, frame in visible_calls(program.ev, facts, function):
        path = frame.facts.path
        if path != facts.path and _in_loop(call, frame):
            document = document_of(program, path)
            node = document.node_at(*program.parsed(path).span(call.site), cst.Call)
            if node is not None and any(
                is_epoch_loop(document, loop, by_round=by_round and not (is_part and goes_on(document, node, loop)))
                for loop in document.loops(node)
            ):
                return True
        outer = function_of(frame.scope)
        if outer is not None and is_one_step(program.ev, frame.facts, outer):
            return True
        if outer is not None and depth < _MAX_CALLERS:
            if _runs_per_epoch(program, frame.facts, outer, depth + 1, by_round=by_round):
                return True
    return False


def _in_loop(call: tree.Call, frame: Frame) -> bool:
    return any(branch in frame.scope.loops for branch, _ in frame.scope.path_at(call.site))


def _is_training(program: Program, facts: ModuleFacts, function: Scope) -> bool:
    """A function with an epoch loop of its own is a training, however often it is called, unless in rounds."""
    loops = [loop for site, loop in parents_of(program.ev, facts).loops.items() if site in function.loops]
    parts = (part for loop in loops if isinstance(loop, tree.For) for part in walk([loop.target, loop.iter]))
    return any(isinstance(part, tree.Name) and "epoch" in part.id for part in parts)


def _steps_what_is_kept(program: Program, facts: ModuleFacts, function: Scope) -> bool:
    document = document_of(program, facts.path)
    assert isinstance(function.node, tree.FunctionDef)
    node = document.node_at(*program.parsed(facts.path).span(function.node.site), cst.FunctionDef)
    return node is not None and steps_what_is_kept(document, node)


def is_distributed(program: Program, path: Path) -> bool:
    """Whether the programs that run a file start several ranks."""
    return _holds(program, path, _DISTRIBUTED)


def _holds(program: Program, path: Path, words: re.Pattern[bytes]) -> bool:
    """Whether a program that runs a file mentions any of the words."""
    above = program.runs_with([path])
    files = sorted(above.union(*(program.imports.below(one) for one in above)))
    return any(program.project.holds(file, words) for file in files)
