"""Whether worker code seeds a generator itself, from the seed that torch gave its worker or from the system.

Some datasets do in `__getitem__` or `__iter__` what a worker init function is for. What then decides the draws is
torch's base seed, the canonical source. A seed from the index or the clock is not taken for it, nor one from the
worker id alone: by that the workers differ, and every epoch is like the first. Where the system gives the seed,
`np.random.seed()` or `np.random.seed(os.getpid())`, no init function and no generator of the loader has a say: that is
TRL503's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import ExternalObject, Value, Values
from torchrepro_lint.program.intent.seed_entropy import entropy_of
from torchrepro_lint.program.worker_seeds.worker_info import is_of_worker_info

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.loaders.worker_runs import WorkerRun
    from torchrepro_lint.program.running.events import Event

__all__ = ["seeding_events", "seeds_by_the_number", "seeds_from_the_system", "seeds_itself"]

#: Modules whose numbers differ between the workers of a run: the clock and the hash of a text may not.
_OF_THE_PROCESS = frozenset({"os", "secrets", "uuid"})


def seeds_itself(ev: Evaluator, run: WorkerRun, rng: str) -> bool:
    """Whether the code of the workers seeds the global generator `rng` from torch's worker seed or the system."""
    return seeds_from_the_system(ev, run, rng) or any(_seeds_from_torch(ev, *one) for one in _seedings(run, rng))


def seeds_from_the_system(ev: Evaluator, run: WorkerRun, rng: str) -> bool:
    """Whether the code of the workers seeds the global generator `rng` from the system, in each of them otherwise."""
    return any(_seeds_from_the_system(ev, *one) for one in _seedings(run, rng))


def seeds_by_the_number(ev: Evaluator, run: WorkerRun, rng: str) -> bool:
    """Whether the code of the workers seeds the global generator `rng` with the worker id and nothing else."""
    return any(
        len(call.args) == 1 and _are_the_number(ev.values(call.args[0].value, frame))
        for call, frame in _seedings(run, rng)
    )


def _are_the_number(values: Values) -> bool:
    return bool(values) and all(is_of_worker_info(value, "id") for value in values)


def _seedings(run: WorkerRun, rng: str) -> Iterator[tuple[tree.Call, Frame]]:
    for event in seeding_events(run, rng):
        if event.call is not None and event.frame is not None:
            yield event.call, event.frame


def seeding_events(run: WorkerRun, rng: str) -> Iterator[Event]:
    """The calls in the code of the workers that seed the global generator `rng`."""
    for event in run.events:
        seeding = seeding_call(event.name) if event.name else None
        if seeding is not None and rng in seeding.seeds:
            yield event


def _seeds_from_torch(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    return any(_from_torch(ev, arg.value, frame, set()) for arg in call.args)


def _seeds_from_the_system(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    match call.args:
        case () | (tree.Arg(value=tree.Const(value=None)),):
            return True
        case (tree.Arg(value=seed), *_):
            source = entropy_of(ev, seed, frame)
            return source is not None and source.name.partition(".")[0] in _OF_THE_PROCESS
    return False


def _from_torch(ev: Evaluator, root: tree.Expr, frame: Frame, seen: set[str]) -> bool:
    for node in walk([root]):
        match node:
            case tree.Call() | tree.Attribute():
                if any(_is_worker_seed(value) for value in ev.values(node, frame)):
                    return True
            case tree.Name(id=name) if name not in seen:
                seen.add(name)
                bound = [binding.node for binding in frame.scope.bindings.get(name, ()) if binding.kind == "assign"]
                if any(_from_torch(ev, node, frame, seen) for node in bound if node is not None):  # type: ignore[arg-type]
                    return True
    return False


def _is_worker_seed(value: Value) -> bool:
    match value:
        case ExternalObject(name=name):
            return canonical(name) in known_calls("worker_seed")
    return is_of_worker_info(value, "seed")
