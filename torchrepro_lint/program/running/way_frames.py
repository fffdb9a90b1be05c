"""The calls on a way: whether these are all, and whether their arguments come to where the way leads."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.construction import init_frames
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ClassValue, Instance
from torchrepro_lint.program.running.callers import (
    frame_without_callers,
    frames_of_call,
    has_further_calls,
    is_class,
)
from torchrepro_lint.program.running.classes_around import class_of_method

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.running.ways import Way, Waypoint

__all__ = ["frames_at", "may_come_through", "may_have_further_calls"]

_MAX_FRAMES: Final = 8


def may_come_through(ev: Evaluator, way: Way) -> bool:
    """Whether the place at the beginning of a way may run where it is come to by these calls. `sample(data)` does not
    seed if it does so under `if seed is not None:`, and `seed` is None where it is not given.
    """
    frames = frames_at(ev, way)
    return frames is None or bool(frames)


def frames_at(ev: Evaluator, way: Way) -> tuple[Frame, ...] | None:
    """The frames in which the place at the beginning of a way runs where it is come to by these calls: none where it
    cannot be; None where they cannot be told.
    """
    outermost = way[-1]
    frames = [frame_without_callers(ev, outermost.facts, outermost.scope)]
    for outer, inner in pairwise(reversed(way)):
        if isinstance(inner.scope.node, tree.Comprehension):
            frames = [frame_without_callers(ev, inner.facts, inner.scope)]  # what its names stand for is not told
            continue
        call = next((call for call, _ in outer.scope.calls if call.site == outer.site), None)
        if call is None:
            return None
        if _surely_makes_another(ev, call, frames, inner):
            return ()
        entered = (frame for caller in frames for frame in _frames_entered(ev, call, caller, inner.scope))
        frames = list(islice(entered, _MAX_FRAMES + 1))
        if not frames or len(frames) > _MAX_FRAMES:
            return None
        frames = [frame for frame in frames if ev.may_run(inner.site, inner.path, frame)]
        if not frames:
            return ()
    return tuple(frames)


def _frames_entered(ev: Evaluator, call: tree.Call, caller: Frame, scope: Scope) -> Iterator[Frame]:
    """The frames of a function in which a call of it runs; of a constructor, those in which an object is made."""
    if scope.name != "__init__":
        yield from frames_of_call(ev, call, caller, scope)
        return
    for cls in ordered(ev.values(call.func, caller)):
        if isinstance(cls, ClassValue):
            made = Instance(cls, ev.arguments(call.args, caller), ev.site(call, caller))
            yield from (frame for _, frame in init_frames(ev, made) if frame.scope is scope)


def _surely_makes_another(ev: Evaluator, call: tree.Call, callers: Sequence[Frame], inner: Waypoint) -> bool:
    """Whether a call makes objects in all these frames, and none of the class in whose constructor `inner` is."""
    cls = class_of_method(ev, inner.facts, inner.scope) if inner.scope.name == "__init__" else None
    made = [value for caller in callers for value in ev.values(call.func, caller)] if cls is not None else []
    if not all(isinstance(value, ClassValue) for value in made):
        return False
    return cls is not None and bool(made) and not any(is_class(ev, cls, value) for value in made)


def may_have_further_calls(ev: Evaluator, way: Way) -> bool:
    """Whether a function that a way leads through, which is called by its name, as a constructor is not, may have calls
    that are not looked at: a method whose name many objects have.
    """
    functions = (one for one in way if isinstance(one.scope.node, tree.FunctionDef) and one.scope.name != "__init__")
    return any(has_further_calls(ev, one.facts, one.scope) for one in functions)
