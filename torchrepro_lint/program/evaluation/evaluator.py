"""The possible values of an expression in a frame: the core of the program model.

Evaluation is lazy, memoised by (expression, frame), and never runs anything. A question that comes back to itself gives
nothing on the inner turn, and what was computed under that assumption is not remembered, so that the answers do not
depend on the order in which questions are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation import (
    arithmetic,
    attributes,
    calls,
    conditions,
    containers,
    expressions,
    kinds,
    names,
)
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    Constant,
    FunctionValue,
    Instance,
    Site,
    Value,
    Values,
    union,
)
from torchrepro_lint.program.modules import Project
from torchrepro_lint.program.running import callers

__all__ = ["Evaluator"]

Answer = TypeVar("Answer")

MAX_NESTED_QUESTIONS = 220
MAX_STEPS = 150_000
_OUT_OF_BUDGET = -1


class Evaluator:
    """Answers what names, attributes, calls and conditions can be. One for each run over a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.steps = 0
        self._memo: dict[Hashable, object] = {}
        self._active: dict[Hashable, int] = {}
        # Where the present answer hangs on questions that are still open: their places in the nesting.
        self._open: set[int] = set()
        self._provisional: dict[Hashable, tuple[object, set[int]]] = {}
        self._until: dict[int, list[Hashable]] = {}
        self._module_frames: dict[int, Frame] = {}

    # --- memory -----------------------------------------------------------------------------------------------

    def remembered(
        self, key: Hashable, compute: Callable[[], Answer], again: Answer, *, costly: bool = False
    ) -> Answer:
        """The answer to the question `key`, computed once. A question inside itself is answered with `again`.

        An answer that hangs on questions still open further out is kept only until the innermost of these is closed; a
        `costly` one until the outermost is, so that a cycle in the call graph is not walked once for each of its edges.
        """
        if key in self._memo:
            return self._memo[key]  # type: ignore[return-value]
        position = self._active.get(key)
        if position is not None:
            self._open.add(position)
            return again
        if key in self._provisional:
            answer, hangs_on = self._provisional[key]
            self._open |= hangs_on
            return answer  # type: ignore[return-value]
        depth = len(self._active)
        self.steps += 1
        if depth >= MAX_NESTED_QUESTIONS or self.steps > MAX_STEPS:
            self._open.add(_OUT_OF_BUDGET)
            return again
        outer = self._open
        self._open = set()
        self._active[key] = depth
        try:
            answer = compute()
        finally:
            del self._active[key]
            for settled in self._until.pop(depth, ()):
                self._provisional.pop(settled, None)
            still_open = {place for place in self._open if place < depth}
            self._open = outer | still_open
        if not still_open:
            self._memo[key] = answer
        elif depth:
            kept_until = _OUT_OF_BUDGET if costly else max(still_open)
            self._provisional[key] = (answer, {kept_until} if costly else still_open)
            self._until.setdefault(kept_until, []).append(key)
        if not depth:
            self._provisional.clear()
            self._until.clear()
        return answer

    def begin_question(self) -> None:
        """Starts a new top-level question with a budget of its own."""
        if not self._active:
            self.steps = 0

    @property
    def exhausted(self) -> bool:
        """Whether the present question ran out of its budget, so that some answers were left unknown."""
        return self.steps > MAX_STEPS

    # --- frames -----------------------------------------------------------------------------------------------

    def module_frame(self, facts: ModuleFacts) -> Frame:
        frame = self._module_frames.get(id(facts))
        if frame is None:
            frame = self._module_frames[id(facts)] = Frame(facts, facts.scope)
        return frame

    def class_frame(self, cls: ClassValue) -> Frame:
        facts = cls.frame.facts
        return Frame(facts, facts.scope_of(cls.node), cls.frame)

    def function_scope(self, function: FunctionValue) -> Scope:
        return function.frame.facts.scope_of(function.node)

    def site(self, node: tree.Expr | tree.Stmt | tree.Arg | tree.Param, frame: Frame) -> Site:
        return Site(frame.facts.path, node.site)

    # --- questions --------------------------------------------------------------------------------------------

    def values(self, node: tree.Expr, frame: Frame) -> Values:
        """What `node` can be when it is evaluated in `frame`."""
        if isinstance(node, tree.Const):
            return frozenset((Constant(node.value),))
        return self.remembered((node, frame), lambda: expressions.evaluate(self, node, frame), NOTHING)

    def name(self, name: str, site: int, frame: Frame) -> Values:
        """What the name can be at the place `site` of the frame's scope."""
        return names.look_up(self, name, site, frame)

    def attribute(self, value: Value, attr: str) -> Values:
        """What `value.attr` can be."""
        return self.remembered(("attribute", value, attr), lambda: attributes.attribute(self, value, attr), NOTHING)

    def call(self, function: Value, arguments: Arguments, site: Site | None) -> Values:
        """What calling `function` can give."""
        return self.remembered(
            ("call", function, arguments, site), lambda: calls.result(self, function, arguments, site), NOTHING
        )

    def call_all(self, functions: Values, arguments: Arguments, site: Site | None) -> Values:
        return union(*(self.call(function, arguments, site) for function in functions)) if functions else NOTHING

    def arguments(self, args: tuple[tree.Arg, ...], frame: Frame) -> Arguments:
        """The evaluated arguments of a call."""
        return calls.evaluate_arguments(self, args, frame)

    def elements(self, values: Values) -> Values:
        """What iterating over any of the values can give."""
        return containers.elements(self, values)

    def combine(self, op: str, left: Values, right: Values) -> Values:
        """What `left op right` can be."""
        return arithmetic.combine(self, op, left, right)

    def truth(self, node: tree.Expr, frame: Frame) -> bool | None:
        """Whether a condition holds, where that is proven; else None."""
        return conditions.truth(self, node, frame)

    def decide(self, path: ArmPath, frame: Frame) -> bool | None:
        """Whether a statement in these arms runs in the frame: proven to, proven not to, or None."""
        return conditions.decide(self, path, frame)

    def import_module(self, importer: Path, dotted: str) -> Values:
        """The module `dotted` as the file `importer` would import it."""
        return names.import_module(self, importer, dotted)

    def contexts(self, facts: ModuleFacts, scope: Scope) -> tuple[Frame, ...]:
        """The frames in which a scope runs, as far as the project shows; never empty."""
        return callers.contexts(self, facts, scope)

    def frames_of_method(self, scope: Scope, class_frame: Frame, instance: Instance) -> list[Frame]:
        """The frames of the calls of a method on this very object."""
        return callers.frames_of_method(self, scope, class_frame, instance)

    def instances_attribute(self, values: Values, attr: str) -> Values:
        return union(*(self.attribute(value, attr) for value in values)) if values else NOTHING

    def one_constant(self, values: Values) -> Constant | None:
        """The constant that the values are proven to be, if they are one."""
        if len(values) == 1:
            (value,) = values
            if isinstance(value, Constant):
                return value
        return None

    def is_instance(self, value: Value, kind: Value) -> bool | None:
        """Whether `value` is of `kind`, a class or a tuple of classes; None where that is not proven."""
        return kinds.is_instance(self, value, kind)

    def is_instance_of(self, instance: Instance, cls: ClassValue) -> bool:
        return any(base == cls for base in attributes.mro(self, instance.cls))
