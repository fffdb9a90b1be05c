"""Whether worker code seeds a generator itself, from the seed that torch gave its worker or from the system.

Some datasets do in `__getitem__` or `__iter__` what a worker init function is for. What then decides the draws is
torch's base seed, the canonical source. A seed from the worker's number alone, the index or the clock is not taken
for it. Where the system gives the seed, `np.random.seed()`, no init function has a say: that is TRL503's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import ExternalObject, MemberOf, Value
from torchrepro_lint.program.running.guards import walk
from torchrepro_lint.program.workers.worker_frames import WORKER_INFO

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.running.reach import Event
    from torchrepro_lint.program.workers.workers import WorkerRun

__all__ = ["seeds_itself"]

MAX_NAMES = 6
_INITIAL_SEED = frozenset({"torch.initial_seed", "torch.random.initial_seed"})


def seeds_itself(ev: Evaluator, run: WorkerRun, rng: str) -> bool:
    """Whether the code of the workers seeds the global generator `rng` from torch's worker seed or the system."""
    return any(_seeds(ev, event, rng) for event in run.events)


def _seeds(ev: Evaluator, event: Event, rng: str) -> bool:
    seeding = seeding_call(event.name) if event.name else None
    if seeding is None or rng not in seeding.seeds or event.call is None or event.frame is None:
        return False
    match event.call.args:
        case () | (tree.Arg(value=tree.Const(value=None)),):
            return True
    return any(_from_torch(ev, arg.value, event.frame, MAX_NAMES) for arg in event.call.args)


def _from_torch(ev: Evaluator, root: tree.Expr, frame: Frame, depth: int) -> bool:
    for node in walk([root]):
        match node:
            case tree.Call() | tree.Attribute():
                if any(_is_worker_seed(value) for value in ev.values(node, frame)):
                    return True
            case tree.Name(id=name) if depth:
                bound = [binding.node for binding in frame.scope.bindings.get(name, ()) if binding.kind == "assign"]
                if any(_from_torch(ev, node, frame, depth - 1) for node in bound if node is not None):  # type: ignore[arg-type]
                    return True
    return False


def _is_worker_seed(value: Value) -> bool:
    match value:
        case ExternalObject(name=name):
            return name in _INITIAL_SEED
        case MemberOf(receiver=ExternalObject(name=name), attr="seed"):
            return name in WORKER_INFO
    return False
