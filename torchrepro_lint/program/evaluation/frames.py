"""Frames: one activation of a scope, with the values of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchrepro_lint.program.evaluation.values import NOTHING, UNKNOWN, Constant, Values, union, unknown

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.reliance import Reliance

__all__ = ["Frame", "enclosing_frame", "joined_frame", "of_any_call", "of_plain_arguments"]


class Frame:
    """A scope that runs: one call of a function, or the single run of a module or a class body.

    `params` are the known values of parameters by name; a parameter that is missing is unknown. `parent` is the frame
    of the enclosing scope, in which names are looked up that this scope does not bind; a module's frame has none.
    Frames with equal content are equal, whichever call they belong to, so calls with equal arguments share results.
    """

    __slots__ = ("_hash", "depth", "facts", "is_bare", "params", "parent", "relevant", "scope")

    def __init__(
        self, facts: ModuleFacts, scope: Scope, parent: Frame | None = None, params: tuple[tuple[str, Values], ...] = ()
    ) -> None:
        self.facts = facts
        self.scope = scope
        self.parent = parent
        self.params = params
        self.depth: int = 0 if parent is None else parent.depth + 1
        #: Whether nothing is known about any parameter, here and around.
        self.is_bare: bool = not params and (parent is None or parent.is_bare)
        #: The frames that it is for expressions which rely on a part of it (see reliance.py).
        self.relevant: dict[Reliance, Frame] = {}
        self._hash = hash((id(scope), parent, params))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Frame):
            return False
        return (
            self._hash == other._hash
            and self.scope is other.scope
            and self.params == other.params
            and self.parent == other.parent
        )

    def __repr__(self) -> str:
        return f"Frame({self.facts.path.name}:{self.scope.name or 'module'})"

    def param(self, name: str) -> Values | None:
        """The values of a parameter, or None if nothing is known."""
        for key, values in self.params:
            if key == name:
                return values
        return None

    def receiver(self) -> Values:
        """What `self` (or `cls`) is in the method that this frame belongs to."""
        frame: Frame | None = self
        while frame is not None:
            name = frame.scope.self_name
            if name is not None:
                return frame.param(name) or NOTHING
            frame = frame.parent
        return NOTHING


def enclosing_frame(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Frame:
    """A frame of the scope in which nothing is known about the parameters."""
    if scope.parent is None:
        return ev.module_frame(facts)
    return Frame(facts, scope, enclosing_frame(ev, facts, scope.parent))


def joined_frame(ev: Evaluator, frames: Sequence[Frame]) -> Frame | None:
    """One frame for all of these, in which a parameter can be what it is in any of them; so with the frames around.
    None where they are of objects too many to name.
    """
    first = frames[0]
    parent = first.parent
    if any(frame.parent != parent for frame in frames):
        around = [frame.parent for frame in frames if frame.parent is not None]
        parent = joined_frame(ev, around) if len(around) == len(frames) else None
        if parent is None:
            return None
    params = []
    for name, _ in first.params:
        given = [frame.param(name) for frame in frames]
        values = union(*(one if one is not None else unknown() for one in given))
        if name == first.scope.self_name and UNKNOWN in values:
            return None
        params.append((name, values))
    return ev.shared(Frame(first.facts, first.scope, parent, tuple(params)))


def of_any_call(ev: Evaluator, frame: Frame) -> Frame:
    """The frame in which of the parameters only the object is known whose method it is."""
    kept = tuple(param for param in frame.params if param[0] == frame.scope.self_name)
    return ev.shared(Frame(frame.facts, frame.scope, frame.parent, kept))


def of_plain_arguments(ev: Evaluator, frame: Frame) -> Frame:
    """The frame in which only those parameters are known that are constants, such as a mode or a flag, and the object
    whose method it is.
    """
    kept = tuple(
        param
        for param in frame.params
        if param[0] == frame.scope.self_name or all(isinstance(value, Constant) for value in param[1])
    )
    return ev.shared(Frame(frame.facts, frame.scope, frame.parent, kept))
