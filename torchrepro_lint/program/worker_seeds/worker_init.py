"""Worker init functions: what is passed as `worker_init_fn`, and what it seeds in each worker, with what.

`init_runs` gives one `InitRun` for each thing that a loader may be given. A run lists the seeding statements that the
function reaches, with the dependence of each seed (see dependence.py), and says whether everything in it was followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.loaders import init_function
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    ClassValue,
    Constant,
    External,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Site,
    Value,
    Values,
    values_of,
)
from torchrepro_lint.program.worker_seeds.dependence import Term, as_value, on
from torchrepro_lint.program.worker_seeds.init_walk import InitWalk, Seeding

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.loaders.loaders import Loader

__all__ = ["InitRun", "init_run", "init_runs", "project_function"]


@dataclass(frozen=True, slots=True, eq=False)
class InitRun:
    """One thing that `worker_init_fn` may be, and what it does when a worker calls it with its number.

    `function` is the project function that runs (None: something of a library); `seedings` in the order of the text;
    `is_complete` says that every call in it was followed. `library` names a library's own init function. `passed_by`
    are the global generators that it seeds on a way which is proven not to be taken here.
    """

    value: Value
    function: FunctionValue | None
    frame: Frame | None
    seedings: tuple[Seeding, ...]
    is_complete: bool
    library: str | None = None
    passed_by: frozenset[str] = frozenset()

    @property
    def site(self) -> Site | None:
        """The `def`, the lambda."""
        if self.function is None:
            return None
        return Site(self.function.frame.facts.path, self.function.node.site)

    @property
    def name(self) -> str:
        return self.function.name if self.function is not None else self.library or "worker_init_fn"

    def seeds(self, rng: str) -> bool:
        """Whether a global generator is seeded, may be, or would be with other arguments."""
        if self.library is not None:
            known = init_function(self.library)
            return known is None or rng in known.seeds
        here = any(rng in seeding.rngs for seeding in self.seedings)
        return here or not self.is_complete or rng in self.passed_by


def init_runs(ev: Evaluator, loader: Loader) -> list[InitRun]:
    """What may be passed as the loader's `worker_init_fn`: one run for each function; none for what is unknown."""
    runs = []
    for value in ordered(loader.value("worker_init_fn")):
        if value is UNKNOWN or isinstance(value, Constant):
            continue
        run = init_run(ev, value, loader.value("dataset"))
        if run is not None:
            runs.append(run)
    return runs


def init_run(ev: Evaluator, value: Value, dataset: Values) -> InitRun | None:
    """What happens when a worker calls `value` with its number; None where it is not a callable that is known."""
    return ev.remembered(("worker-init", value, dataset), lambda: _init_run(ev, value, dataset), None)


def project_function(ev: Evaluator, value: Value) -> FunctionValue | None:
    """The function that runs when `value` is called."""
    match value:
        case FunctionValue():
            return value
        case MethodValue(function=function):
            return function
        case Partial(function=functions):
            found = [project_function(ev, inner) for inner in ordered(functions)]
            return found[0] if len(found) == 1 else None
        case Instance():
            methods = ev.attribute(value, "__call__")
            return project_function(ev, next(iter(methods))) if len(methods) == 1 else None
        case ClassValue():
            methods = ev.attribute(Instance(value, None, None), "__init__")
            return project_function(ev, next(iter(methods))) if len(methods) == 1 else None
    return None


def _init_run(ev: Evaluator, value: Value, dataset: Values) -> InitRun | None:
    if isinstance(value, External):
        known = init_function(value.name)
        seeding = seeding_call(value.name)
        if known is None and seeding is None:
            return InitRun(value, None, None, (), False, value.name)
        return InitRun(value, None, None, (), True, value.name)
    function = project_function(ev, value)
    if function is None:
        return None
    walk = InitWalk(ev, dataset)
    worker_id = Arguments((values_of(as_value(on(Term.WORKER))),))
    frames = list(walk.reader.frames_of(value, worker_id))
    if len(frames) != 1:
        return None
    walk.body(walk.reader.enter(frames[0]), None, (), 0)
    return InitRun(value, function, frames[0], tuple(walk.seedings), walk.is_complete, None, walk.passed_by)
