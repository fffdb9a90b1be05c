"""The fixes that let a worker init function seed what torch does not: generators that the dataset holds or that
a module has, and those that libraries keep for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.init_body import plan_worker_lines
from torchrepro_lint.fixes.init_fix import definition_of, is_called
from torchrepro_lint.fixes.loader_fix import loader_fix
from torchrepro_lint.fixes.worker_lines import WorkerTarget
from torchrepro_lint.fixes.worker_targets import held_targets, library_target, may_lack
from torchrepro_lint.knowledge.reseeding import library_reseeding
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.seeds.seeding import has_generator, may_be_seeded
from torchrepro_lint.program.worker_seeds.worker_init import InitRun, init_runs
from torchrepro_lint.program.workers.held_generators import HeldGenerator
from torchrepro_lint.program.workers.library_rngs import LibraryDraw

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["missed_library_fix", "reseed_held_fix", "reseed_library_fix"]

Planned = tuple[Fix | None, str | None]
_Targets = tuple[WorkerTarget, ...]


def reseed_held_fix(
    program: Program, held: HeldGenerator, holders: Mapping[Loader, Sequence[HeldGenerator]]
) -> Planned:
    """Seed the generators of a dataset in the workers of all loaders that suffer from `held`. `holders` are the loaders
    of the program with workers, and the generators that each of them copies.
    """
    loaders = [loader for loader, copied in holders.items() if any(_is_same(held, one) for one in copied)]
    wanted: list[_Targets] = []
    for loader in loaders:
        # All at once: once the init function goes to the dataset, what it leaves out is not seen any more.
        copied = tuple(holders[loader])
        # Each of them asks for all.
        targets = program.once(("held targets", loader, copied), partial(held_targets, program, loader, copied))
        if isinstance(targets, str):
            return None, targets
        wanted.append(targets)
    if len(set(wanted)) != 1:
        return None, "the datasets of the loaders hold different generators"
    return _seeded_in_init(program, loaders, wanted[0])


def reseed_library_fix(program: Program, loader: Loader, draws: Sequence[LibraryDraw]) -> Planned:
    """Seed the generators of libraries in the workers of a loader that has no worker init function."""
    targets: list[WorkerTarget] = []
    for draw in draws:
        target = library_target(program, loader, draw)
        if isinstance(target, str):
            return None, target
        if target not in targets:
            targets.append(target)
    return _seeded_in_init(program, [loader], tuple(targets))


def missed_library_fix(program: Program, loader: Loader, rng: str) -> Planned:
    """Let the worker init function of a loader also seed the generator `rng` that a library keeps for itself."""
    reseeding = library_reseeding(rng)
    if reseeding is None:
        return None, "no way of seeding it is known"
    fix, declined = _seeded_in_init(program, [loader], (WorkerTarget(reseeding),))
    return (replace(fix, applicability=Applicability.SAFE) if fix is not None else None), declined


def _is_same(held: HeldGenerator, other: HeldGenerator) -> bool:
    sites = {*held.made, *(event.site for event in held.draws)}
    return not sites.isdisjoint({*other.made, *(event.site for event in other.draws)})


# --- where it is seeded ---------------------------------------------------------------------------------------


def _seeded_in_init(program: Program, loaders: Sequence[Loader], targets: _Targets) -> Planned:
    without = [loader for loader in loaders if loader.lacks("worker_init_fn")]
    if without and len(without) < len(loaders):
        return None, "some of the loaders have a worker init function, and others have none"
    found = _new_function(program, loaders, targets) if without else _own_function(program, loaders, targets)
    if isinstance(found, str):
        return None, found
    return Fix(Applicability.UNSAFE, "Seed it in each worker", tuple(dict.fromkeys(found))), None


def _new_function(program: Program, loaders: Sequence[Loader], targets: _Targets) -> list[Edit] | str:
    edits: list[Edit] = []
    for site in dict.fromkeys(loader.site for loader in loaders):
        loader = next(one for one in loaders if one.site == site)
        if any(target.global_name and target.path != site.path for target in targets):
            return "the generator is a global of another module than the loader's"
        # What it seeds with comes from torch, which has to be seeded then.
        generator = not has_generator(loader) and not may_be_seeded(program, loader)
        fix, declined = loader_fix(program, loader, init=True, generator=generator, also_seeds=targets)
        if fix is None:
            return declined or "the loader takes no worker init function"
        edits += fix.edits
    return edits


def _own_function(program: Program, loaders: Sequence[Loader], targets: _Targets) -> list[Edit] | str:
    runs: list[InitRun] = []
    for loader in loaders:
        of_loader = init_runs(program.ev, loader)
        if len(of_loader) != 1:
            return "the worker init function is not known"
        runs += of_loader
    found = definition_of(program, runs[0])
    if found is None or len({run.site for run in runs}) != 1:
        return "the loaders have several worker init functions, or one that is not defined in the project"
    if is_called(program, runs[0]):
        return f"`{runs[0].name}` is called outside of workers, too"
    document, function = found
    if any(target.global_name and target.path != document.path for target in targets):
        return "the generator is a global of another module than the worker init function's"
    sites = {loader.site for loader in loaders}
    for other in program.loaders:
        if other.site in sites or not other.has_workers or not _runs_for(program, other, runs[0]):
            continue
        if any(may_lack(program, other, target) for target in targets):
            return f"`{runs[0].name}` also serves loaders whose datasets do not have it"
    edits = plan_worker_lines(document, function, targets)
    return edits if edits is not None else f"there is no line in `{runs[0].name}` at which it can be seeded"


def _runs_for(program: Program, loader: Loader, run: InitRun) -> bool:
    return any(one.site == run.site for one in init_runs(program.ev, loader))
