"""The possible values of an expression in a frame: the core of the program model.

Evaluation is lazy, memoised by (expression, frame), and never runs anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
    enumerations,
    expressions,
    imported,
    kinds,
    named_tuples,
    names,
    own_attributes,
)
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.memory import Memory
from torchrepro_lint.program.evaluation.reliance import Reliance, Reliances
from torchrepro_lint.program.evaluation.signatures import callable_with
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
    unknown,
)
from torchrepro_lint.program.modules import Project
from torchrepro_lint.program.running import callers

__all__ = ["Evaluator"]


class Evaluator(Memory):
    """Answers what names, attributes, calls and conditions can be. One for each run over a project."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project
        self._module_frames: dict[int, Frame] = {}
        self._frames: dict[Frame, Frame] = {}
        self._reliances = Reliances()
        self._literals: dict[tuple[type, tree.ConstantValue], Values] = {}

    # --- frames -----------------------------------------------------------------------------------------------

    def module_frame(self, facts: ModuleFacts) -> Frame:
        """The frame of the code at the top level of a file."""
        frame = self._module_frames.get(id(facts))
        if frame is None:
            frame = self._module_frames[id(facts)] = Frame(facts, facts.scope)
        return frame

    def shared(self, frame: Frame) -> Frame:
        """The frame that stands for all frames of equal content. Frames are keys of nearly every question: where equal
        ones are one object, comparing them costs no look at their content.
        """
        return self._frames.setdefault(frame, frame)

    def _forget_details(self) -> None:
        super()._forget_details()
        self._frames.clear()

    def class_frame(self, cls: ClassValue) -> Frame:
        """The frame of a class body; the frames of its methods have it as their parent."""
        facts = cls.frame.facts
        return self.shared(Frame(facts, facts.scope_of(cls.node), cls.frame))

    def function_scope(self, function: FunctionValue) -> Scope:
        """The scope that the body of a function opens."""
        return function.frame.facts.scope_of(function.node)

    def site(self, node: tree.Expr | tree.Stmt | tree.Arg | tree.Param, frame: Frame) -> Site:
        """The place of a node of the file whose code the frame runs."""
        return Site(frame.facts.path, node.site)

    # --- questions --------------------------------------------------------------------------------------------

    def values(self, node: tree.Expr, frame: Frame) -> Values:
        """What `node` can be when it is evaluated in `frame`; empty where there is nothing that it can be."""
        if isinstance(node, tree.Const):
            return self._literal(node.value)
        within = self.relevant(node, frame)
        return self.remembered((node, within), lambda: expressions.evaluate(self, node, within), NOTHING, unknown())

    def _literal(self, value: tree.ConstantValue) -> Values:
        key = (type(value), value)
        known = self._literals.get(key)
        if known is None:
            known = self._literals[key] = frozenset((Constant(value),))
        return known

    def relevant(self, node: tree.Expr, frame: Frame) -> Frame:
        """`frame` without the parameters that `node` does not depend on.

        The answer is the same in both, so that two calls which differ in other arguments share it.
        """
        if frame.is_bare:
            return frame
        reliance = self._reliances.of(node, frame.scope)
        if not reliance:
            return frame
        known = frame.relevant.get(reliance)
        if known is None:
            known = frame.relevant[reliance] = self._without_the_rest(frame, reliance, 0)
        return known

    def _without_the_rest(self, frame: Frame, reliance: Reliance, place: int) -> Frame:
        if frame.is_bare or place == len(reliance):
            return frame
        params = tuple(param for param in frame.params if param[0] in reliance[place])
        parent = self._without_the_rest(frame.parent, reliance, place + 1) if frame.parent is not None else None
        if parent is frame.parent and len(params) == len(frame.params):
            return frame
        return self.shared(Frame(frame.facts, frame.scope, parent, params))

    def name(self, name: str, site: int, frame: Frame) -> Values:
        """What a name can be where the code of the frame's scope has come to `site`."""
        return names.look_up(self, name, site, frame)

    def attribute(self, value: Value, attr: str) -> Values:
        """What `value.attr` can be."""
        return self.remembered(
            ("attribute", value, attr), lambda: attributes.attribute(self, value, attr), NOTHING, unknown()
        )

    def call(self, function: Value, arguments: Arguments, site: Site | None) -> Values:
        """What calling `function` can give; `site` is where the call is, and tells apart the objects it makes."""
        return self.remembered(
            ("call", function, arguments, site),
            lambda: calls.result(self, function, arguments, site),
            NOTHING,
            unknown(),
        )

    def call_all(self, functions: Values, arguments: Arguments, site: Site | None) -> Values:
        """What calling any of `functions` can give."""
        able = callable_with(self, functions, arguments) or functions
        return union(*(self.call(function, arguments, site) for function in able)) if able else NOTHING

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
        return (
            conditions.holds(self, node, frame)
            if isinstance(node, tree.Boolean)
            else conditions.truth(self, node, frame)
        )

    def decide(self, path: ArmPath, frame: Frame) -> bool | None:
        """Whether a statement in these arms runs in the frame: proven to, proven not to, or None."""
        return conditions.decide(self, path, frame)

    def may_run(self, site: int, path: ArmPath, frame: Frame) -> bool:
        """Whether what is at `site`, in these arms, may run in the frame."""
        return conditions.may_run(self, site, path, frame)

    def import_module(self, importer: Path, dotted: str) -> Values:
        """The module `dotted` as the file `importer` would import it."""
        return imported.import_module(self, importer, dotted)

    def contexts(self, facts: ModuleFacts, scope: Scope) -> tuple[Frame, ...]:
        """The frames in which a scope runs, as far as the project shows; never empty."""
        return callers.contexts(self, facts, scope)

    def subclasses(self, cls: ClassValue) -> Iterator[ClassValue]:
        """The classes of the project that derive from a class."""
        return callers.subclasses(self, cls)

    def instances_of(self, cls: ClassValue) -> tuple[Instance, ...]:
        """The objects of a class or its subclasses that the project makes; if it makes none, one made unseen of
        each.
        """
        return callers.instances_of(self, cls)

    def member_named(self, cls: ClassValue, index: Values) -> Values:
        """What `cls[index]` is for an enumeration; nothing for another class."""
        return enumerations.member_named(self, cls, index)

    def tuple_items(self, value: Instance) -> tuple[Values, ...] | None:
        """The items of an object that is a named tuple; None of another one."""
        return named_tuples.tuple_items(self, value)

    def frames_of_method(self, scope: Scope, class_frame: Frame, instance: Instance) -> list[Frame]:
        """The frames of the calls of a method on this very object."""
        return callers.frames_of_method(self, scope, class_frame, instance)

    def calls_of_method_are_on_others(self, scope: Scope, class_frame: Frame, instance: Instance) -> bool:
        """Whether a method is called, and always on other objects than this one."""
        return callers.calls_of_method_are_on_others(self, scope, class_frame, instance)

    def assigned_before(self, attr: str, site: int, frame: Frame) -> Values:
        """What `self.attr` can be at a place of a method that may have assigned it before; nothing where it has not."""
        return own_attributes.assigned_before(self, attr, site, frame)

    def instances_attribute(self, values: Values, attr: str) -> Values:
        """What `value.attr` can be, for any of the values."""
        return union(*(self.attribute(value, attr) for value in values)) if values else NOTHING

    def one_constant(self, values: Values) -> Constant | None:
        """The constant that the values are proven to be; None where they may be several things, or unknown."""
        if len(values) == 1:
            (value,) = values
            if isinstance(value, Constant):
                return value
        return None

    def is_instance(self, value: Value, kind: Value) -> bool | None:
        """Whether `value` is of `kind`, a class or a tuple of classes; None where that is not proven."""
        return kinds.is_instance(self, value, kind)

    def is_instance_of(self, instance: Instance, cls: ClassValue) -> bool:
        """Whether a class of the project is the class of an object, or one of its bases."""
        return any(base == cls for base in attributes.mro(self, instance.cls))
