"""What is wrong with the seeds of worker init functions, and which loaders suffer from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.tensors import tensor_methods
from torchrepro_lint.program.evaluation.values import UNKNOWN, Instance, MethodValue, Value
from torchrepro_lint.program.intent.configured_defaults import is_only_for_what_is_off
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect, WorkerRun, condition_holds
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.worker_seeds.dependence import Term
from torchrepro_lint.program.worker_seeds.init_walk import Seeding
from torchrepro_lint.program.worker_seeds.worker_init import InitRun, init_runs
from torchrepro_lint.program.workers.chosen_datasets import ChosenDraw, draw_of_a_chosen_dataset

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["Fault", "FaultySeeding", "fault_of", "draw_nothing", "faulty_seedings", "is_seeded_by_init"]


class Fault(str, Enum):
    """What can be wrong with a seed."""

    SAME = "the same in every worker"
    REPEATS = "the same in every epoch"
    ENTROPY = "another one in every run"
    RANGE = "outside of what NumPy takes"


@dataclass(slots=True, eq=False)
class FaultySeeding:
    """A seeding statement with a fault, the init function's run that reaches it, and the loaders that suffer. `chosen`
    is a draw from what it seeds, of a data set that may be chosen for a loader of which none is known.
    """

    run: InitRun
    seeding: Seeding
    fault: Fault
    drawn: bool
    chosen: ChosenDraw | None = None
    loaders: list[Loader] = field(default_factory=list)

    def is_switched_off(self, ev: Evaluator) -> bool:
        """Whether each loader gets the function only where a setting is on that all code sets to False:
        `worker_init_fn=seed_worker if config.seed_workers else None`.
        """
        return all(_is_given_where_it_is_off(ev, loader) for loader in self.loaders)


#: By the place of the init function and the fault.
_Faults = dict[tuple[tuple[str, int], str], FaultySeeding]

#: Faults of a seed in which torch's base seed has no part.
_OF_OTHER_SEEDS = (Fault.SAME, Fault.REPEATS, Fault.ENTROPY)
#: Of several statements with one fault, the one that is named.
_PREFERENCE = ("numpy", "python", "torch")


def fault_of(seeding: Seeding, *, old_torch: bool) -> Fault | None:
    """What is wrong with a seed; None where nothing is, or nothing is proven.

    `old_torch`: releases before 1.9 count, which leave NumPy's state as the main process had it.
    """
    if seeding.name in known_calls("seeds_of_32_bits") and seeding.seed.wide:
        return Fault.RANGE
    seed = seeding.seed.read_on(old_torch=old_torch)
    if seed.has(Term.ENTROPY):
        return Fault.ENTROPY
    if not seed.differs_between_workers:
        return Fault.SAME
    return Fault.REPEATS if not seed.differs_between_epochs else None


def faulty_seedings(program: Program, fault: Fault) -> list[FaultySeeding]:
    """The seeding statements with this fault, one for each init function, in the order of files and text: those of
    which findings may be wanted.
    """
    nothing: _Faults = {}
    every = program.ev.of_project("init-faults", lambda: _all_faults(program), nothing)
    found = (found for (_, kind), found in sorted(every.items(), key=lambda item: item[0]) if kind == fault.value)
    return [one for one in found if program.is_told(one.seeding.top.path)]


def _all_faults(program: Program) -> _Faults:
    best: _Faults = {}
    for loader in program.loaders:
        if not loader.has_workers or loader.lacks("worker_init_fn"):
            continue
        for found in _of_loader(program, loader):
            site = found.run.site
            assert site is not None
            key = ((str(site.path), site.number), found.fault.value)
            known = best.get(key)
            if known is None:
                best[key] = found
            elif _rank(found) < _rank(known):
                found.loaders = known.loaders
                best[key] = found
            if all(other.site != loader.site for other in best[key].loaders):
                best[key].loaders.append(loader)
    return best


def _is_given_where_it_is_off(ev: Evaluator, loader: Loader) -> bool:
    for arg in loader.call.args:
        match arg:
            case tree.Arg(keyword="worker_init_fn", value=tree.Conditional(test=test, orelse=tree.Const(value=None))):
                return is_only_for_what_is_off(ev, [test], loader.frame)
    return False


def _rank(found: FaultySeeding) -> tuple[bool, int, str, int]:
    rngs = found.seeding.rngs
    preference = next((index for index, rng in enumerate(_PREFERENCE) if rng in rngs), len(_PREFERENCE))
    return not found.drawn, preference, str(found.seeding.top.path), found.seeding.top.number


def _of_loader(program: Program, loader: Loader) -> Iterator[FaultySeeding]:
    program.ev.begin_question()
    runs = [run for run in init_runs(program.ev, loader) if run.seedings]
    if not runs:
        return
    work = program.worker_run(loader)
    drawn = _may_draw(work)
    is_known = _is_followed(program.ev, work) and not work.is_cut
    is_persistent = loader.may_keep_workers
    old_torch = program.target.admits_below("1.9")
    chosen = None
    if not any(seeding.rngs & drawn for run in runs for seeding in run.seedings):
        repeats = (one.rngs for run in runs for one in run.seedings if fault_of(one, old_torch=old_torch) is not None)
        chosen = draw_of_a_chosen_dataset(program, loader, frozenset().union(*repeats))
        drawn |= chosen.draw.rngs if chosen is not None else frozenset()
    for run in runs:
        covers = any(seeding.rngs & drawn for seeding in run.seedings)
        for seeding in run.seedings:
            fault = fault_of(seeding, old_torch=old_torch)
            if fault is None or (fault is Fault.REPEATS and is_persistent):
                continue
            # A generator that a worker gets is there to be drawn from, also where the draw is not followed to it.
            matters = bool(seeding.rngs & drawn) or "receiver" in seeding.rngs
            if fault is Fault.REPEATS and not matters:
                continue
            # Where all that workers draw is known, a seed of another generator does no harm beside one that counts.
            if fault is not Fault.RANGE and is_known and not (matters or (drawn and not covers)):
                continue
            shown = chosen if chosen is not None and seeding.rngs & chosen.draw.rngs else None
            yield FaultySeeding(run, seeding, fault, matters, shown)


def draw_nothing(program: Program, loader: Loader) -> bool:
    """Whether everything that the workers of a loader run is known, and nothing of it draws."""
    program.ev.begin_question()
    work = program.worker_run(loader)
    return _is_followed(program.ev, work) and not work.is_cut and not _may_draw(work)


def _may_draw(work: WorkerRun) -> frozenset[str]:
    """The generators that worker code draws from, or may draw from where a condition is not known."""
    found: set[str] = set()
    for event in work.events:
        for effect in rng_effects(event.name) if event.name else ():
            may_hold = all(condition_holds(when, event.arguments) is not False for when in effect.when)
            # A clock that is read is no generator that a seed could decide.
            if effect.kind == "draw" and effect.rng != "entropy" and may_hold:
                found |= {"numpy", "python"} if effect.rng == "numpy-and-python" else {effect.rng}
    return frozenset(found)


def _is_followed(ev: Evaluator, work: WorkerRun) -> bool:
    """Whether everything that the workers run is known: the project's own dataset, and every call in it."""
    datasets = work.loader.value("dataset")
    own = bool(datasets) and all(_is_own(ev, value) for value in datasets)
    return own and UNKNOWN not in work.loader.value("collate_fn") and all(_reads_data(one) for one in work.unresolved)


def _is_own(ev: Evaluator, dataset: Value) -> bool:
    if not isinstance(dataset, Instance) or dataset.arguments is None:
        return False
    found = [ev.attribute(dataset, name) for name in ("__getitem__", "__getitems__", "__iter__")]
    return any(found) and all(isinstance(method, MethodValue) for methods in found for method in methods)


def _reads_data(event: Event) -> bool:
    """Whether a call that could not be followed is a method of arrays, text or containers, by its name."""
    match event.call:
        case tree.Call(func=tree.Attribute(attr=attr)):
            return attr in _data_methods()
    return False


@cache
def _data_methods() -> frozenset[str]:
    names = {"astype", *tensor_methods(), *dir(str), *dir(dict), *dir(list)} - {"apply_", "map_", "__call__"}
    return frozenset(name for name in names if not rng_effects(f"torch.Tensor.{name}"))


def is_seeded_by_init(program: Program, loader: Loader, draw: Effect) -> bool:
    """Whether each worker init function that the loader may have seeds the generators of a draw with what the base seed
    has no part in: the worker id, a constant, the system.
    """
    runs = init_runs(program.ev, loader)
    if not runs or loader.may_lack("worker_init_fn"):
        return False
    old_torch = program.target.admits_below("1.9")
    return all(
        any(rng in one.rngs and fault_of(one, old_torch=old_torch) in _OF_OTHER_SEEDS for one in run.seedings)
        for run in runs
        for rng in draw.rngs
    )
