"""Which frames run in a worker: what the init function enters, from where, and what has been seeded by then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation import attributes, calls
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Value,
    Values,
    unknown,
    values_of,
)
from torchrepro_lint.program.worker_seeds.dependence import Dependence, as_value
from torchrepro_lint.program.worker_seeds.seed_sources import initial_state
from torchrepro_lint.program.worker_seeds.worker_info import is_of_worker_info

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["WorkerFrames"]


class WorkerFrames(ABC):
    """The part of a worker's run that is about calls and their order.

    `dataset` is what `get_worker_info().dataset` can be; `inside` holds the frames that run in the worker, each with
    the place that calls it.
    """

    def __init__(self, ev: Evaluator, dataset: Values) -> None:
        self.ev = ev
        self.dataset = dataset
        self.inside: dict[Frame, tuple[Frame, int] | None] = {}
        self._seeded: dict[Frame, list[tuple[int, str, Dependence]]] = {}

    @abstractmethod
    def of(self, node: tree.Expr, frame: Frame) -> Dependence:
        """What the value of `node` depends on."""

    def enter(self, frame: Frame, caller: tuple[Frame, int] | None = None) -> Frame:
        """Says that a frame runs in the worker, called from a place in another one."""
        self.inside.setdefault(frame, caller)
        return frame

    def note_seeding(self, frame: Frame, site: int, rng: str, seed: Dependence) -> None:
        """Says that the call at `site` seeds a global generator: what is drawn after it depends on that seed."""
        self._seeded.setdefault(frame, []).append((site, rng, seed))

    def state(self, rng: str, frame: Frame, site: int) -> Dependence:
        """What the state of a global generator depends on at a place."""
        place: tuple[Frame, int] | None = (frame, site)
        while place is not None:
            current, before = place
            for at, seeded, seed in reversed(self._seeded.get(current, ())):
                if seeded == rng and at < before:
                    return seed
            place = self.inside.get(current)
        return initial_state(rng)

    def frames_of(self, function: Value, arguments: Arguments) -> Iterator[Frame]:
        """The frames in which a call of a project callable runs."""
        match function:
            case FunctionValue():
                yield calls.bound_frame(self.ev, function, arguments)
            case MethodValue():
                yield attributes.method_frame(self.ev, function, arguments)
            case Partial():
                for inner in function.function:
                    yield from self.frames_of(inner, calls.merged(function.arguments, arguments))
            case Instance():
                for method in self.ev.attribute(function, "__call__"):
                    yield from self.frames_of(method, arguments)
            case ClassValue():
                for method in self.ev.attribute(Instance(function, arguments, None), "__init__"):
                    yield from self.frames_of(method, arguments)

    def callees(self, func: tree.Expr, frame: Frame) -> Values:
        """What a callee can be; members of the worker's dataset are looked up in it."""
        found = self.ev.values(func, frame)
        if isinstance(func, tree.Attribute) and self.is_dataset(func.value, frame):
            own = self.ev.instances_attribute(self.dataset, func.attr) if self.dataset else unknown()
            return own or unknown()
        return found

    def is_dataset(self, node: tree.Expr, frame: Frame) -> bool:
        """Whether an expression is `get_worker_info().dataset`."""
        return any(is_of_worker_info(value, "dataset") for value in self.ev.values(node, frame))

    def arguments(self, args: tuple[tree.Arg, ...], frame: Frame) -> Arguments:
        """The arguments of a call, each marked with what it depends on."""
        result = Arguments()
        for arg in args:
            found = calls.evaluate_arguments(self.ev, (arg,), frame)
            dependence = self.of(arg.value, frame)
            if dependence.terms or dependence.wide:
                marked = values_of(as_value(dependence))
                if arg.star:
                    found = Arguments(tuple(marked for _ in found.positional), found.keywords, True, arg.star == "**")
                elif arg.keyword is not None:
                    found = Arguments((), ((arg.keyword, marked, True),))
                else:
                    found = Arguments((marked,))
            result = calls.merged(result, found)
        return result
