"""Whether a call is one of a certain function: by what its callee evaluates to, first without its scope's callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    ClassValue,
    FunctionValue,
    Instance,
    Partial,
    Value,
    values_of,
)
from torchrepro_lint.program.running.call_index import NamedCall

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "anything",
    "frame_without_callers",
    "frames_meaning",
    "is_meant",
    "is_open",
    "may_be",
    "without_object",
]


def frame_without_callers(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Frame:
    """The frame of a scope of whose callers nothing is known."""
    parent = frame_without_callers(ev, facts, scope.parent) if scope.parent is not None else None
    if parent is None:
        return ev.module_frame(facts)
    if isinstance(scope.node, tree.FunctionDef) and isinstance(parent.scope.node, tree.ClassDef) and scope.self_name:
        assert parent.parent is not None
        cls = ClassValue(parent.scope.node, parent.parent)
        function = FunctionValue(scope.node, parent)
        return bound_frame(ev, function, without_object(scope.node, cls) or anything(Instance(cls, None, None)))
    return ev.shared(Frame(facts, scope, parent))


def without_object(node: tree.FunctionDef, cls: ClassValue) -> Arguments | None:
    """What a static method or a class method gets where nothing visible calls it; None for the method of an object."""
    if classes.is_static(node):
        return anything()
    of_class = any(classes.decorator_name(decorator) == "classmethod" for decorator in node.decorators)
    return anything(cls) if of_class else None


def anything(*receiver: Value) -> Arguments:
    """Arguments of which nothing is known, behind the object or the class whose method is called."""
    return Arguments(tuple(values_of(value) for value in receiver), (), True, True)


def frames_meaning(ev: Evaluator, one: NamedCall, wanted: Callable[[Value], bool]) -> Iterator[Frame]:
    """The frames in which a call is made, and its callee is what is wanted."""
    if is_meant(ev, one, wanted) is False:
        return
    for frame in ev.contexts(one.facts, one.scope):
        if not ev.may_run(one.call.site, one.path, frame):
            continue
        if any(wanted(value) for value in ev.values(one.call.func, frame)):
            yield frame


def may_be(ev: Evaluator, node: tree.Expr, alone: Frame, wanted: Callable[[Value], bool]) -> bool:
    """A quick check that does not look for the callers of the scope, which takes much longer: whether an expression may
    be what is wanted. `alone` is the frame of the scope without callers.
    """
    values = ev.values(node, alone)
    return not values or any(value is UNKNOWN or wanted(value) for value in values)


def is_open(ev: Evaluator, node: tree.Expr, alone: Frame) -> bool:
    """Whether the scope, whose frame `alone` knows no callers, does not show what an expression is."""
    return may_be(ev, node, alone, lambda value: False)


def is_meant(ev: Evaluator, one: NamedCall, wanted: Callable[[Value], bool]) -> bool | None:
    """A quick check that does not look for the callers of the caller: whether the callee is what is wanted, or None if
    that is not known.

    An object that came as a parameter is looked up further only where it is called by a plain name, is named or held
    by `self` (a static method that a process is started with is given it): to follow every `model.step()` to all the
    models that any caller passes would mean to follow everything.
    """
    functions = ev.values(one.call.func, frame_without_callers(ev, one.facts, one.scope))
    if any(wanted(value) for value in functions):
        return True
    if functions and UNKNOWN not in functions:
        return None if any(isinstance(value, (Partial, Instance)) for value in functions) else False
    match one.call.func:
        case tree.Attribute(value=tree.Name(id=owner)) if owner != "self":
            if any(binding.kind == "param" for binding in one.scope.bindings.get(owner, ())):
                return None
    return None
