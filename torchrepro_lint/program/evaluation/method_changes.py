"""What the methods of a class put into the lists and dicts of its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.changes import changes_of, with_changes
from torchrepro_lint.program.evaluation.construction import init_frames
from torchrepro_lint.program.evaluation.dataclass_fields import post_init_arguments
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.joining import joined, repeated
from torchrepro_lint.program.evaluation.module_containers import is_changeable
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    FunctionValue,
    Instance,
    Values,
    union,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["calling_frames", "functions_in", "with_called_changes", "with_changes_on", "with_method_changes"]


def _method_frame(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> Frame:
    """A method's frame where only `self` is known; what visible calls pass joins in for the rest."""
    assert isinstance(scope.node, tree.FunctionDef)
    function = FunctionValue(scope.node, class_frame)
    return bound_frame(ev, function, Arguments((values_of(instance),), (), True, True))


def with_method_changes(ev: Evaluator, instance: Instance, attr: str, values: Values) -> Values:
    """Adds what any method puts into the list or dict `self.attr` (`self.attr[key] = value`, `.append(value)`)."""
    return with_changes_on(
        ev,
        instance,
        values,
        lambda name, scope: bool(changes_of(ev, scope, f"{name}.{attr}")),
        lambda before, name, frame: with_changes(ev, before, frame, -1, END, f"{name}.{attr}"),
    )


def with_called_changes(ev: Evaluator, values: Values, attr: str, start: int, end: int, frame: Frame) -> Values:
    """The list or dict `self.attr` with what the methods that are called on `self` between two places put into it."""
    if not any(is_changeable(value) for value in values):
        return values
    called = {name for name, site in _own_calls(frame.scope) if start < site < end}
    for receiver in ordered(frame.receiver()) if called else ():
        if isinstance(receiver, Instance):
            running = _running(ev, receiver, called)

            def concerns(name: str, scope: Scope, running: set[int] = running) -> bool:
                return id(scope) in running and bool(changes_of(ev, scope, f"{name}.{attr}"))

            values = with_changes_on(
                ev,
                receiver,
                values,
                concerns,
                lambda before, name, inner: with_changes(ev, before, inner, -1, END, f"{name}.{attr}"),
            )
    return values


def _running(ev: Evaluator, instance: Instance, called: set[str]) -> set[int]:
    """The methods of these names, and those that they call on `self` in turn."""
    methods: dict[str, list[Scope]] = {}
    for base in classes.mro(ev, instance.cls):
        for method in ev.class_frame(base).scope.children if isinstance(base, ClassValue) else ():
            methods.setdefault(method.name, []).append(method)
    pending, seen = sorted(called), set(called)
    while pending:
        for method in methods.get(pending.pop(), ()):
            further = {name for name, _ in _own_calls(method)} - seen
            seen |= further
            pending.extend(sorted(further))
    return {id(method) for name in seen for method in methods.get(name, ())}


def _own_calls(method: Scope) -> Iterator[tuple[str, int]]:
    """What a method calls on its `self`, with the places."""
    for call, _ in method.calls:
        match call.func:
            case tree.Attribute(value=tree.Name(id=owner), attr=name) if owner == method.self_name:
                yield name, call.site


def with_changes_on(
    ev: Evaluator,
    instance: Instance,
    values: Values,
    concerns: Callable[[str, Scope], bool],
    change: Callable[[Values, str, Frame], Values],
) -> Values:
    """Lists and dicts after what the methods of an object, and the functions in them, do to them.

    `concerns` says of a function, and the name that the object has in it, whether it does anything; `change` gives what
    they are after it has run in a frame.
    """
    if not any(is_changeable(value) for value in values):
        return values
    init = {id(frame.scope): frame for _, frame in init_frames(ev, instance)}
    for base in classes.mro(ev, instance.cls):
        if not isinstance(base, ClassValue):
            continue
        class_frame = ev.class_frame(base)
        for method in class_frame.scope.children:
            name = method.self_name or ""
            for scope in functions_in(method):
                if not concerns(name, scope):
                    continue
                if id(scope) in init:
                    frames = [init[id(scope)]]
                elif scope is not method:  # a decorator that a method makes: it knows the method's `self`
                    frames = [frame for frame in ev.contexts(base.frame.facts, scope) if instance in frame.receiver()]
                elif scope.name == "__init__":
                    continue
                else:
                    frames = calling_frames(ev, scope, class_frame, instance)
                changed = [change(values, name, frame) for frame in frames] or [values]
                if id(scope) in init:
                    values = union(*changed)
                else:  # it may have run any number of times, also never
                    values = joined(values, *(repeated(value) for after in changed for value in after))
    return values


def functions_in(method: Scope) -> Iterator[Scope]:
    """A method and the functions inside it."""
    if isinstance(method.node, tree.FunctionDef):
        yield method
        for inner in method.children:
            yield from functions_in(inner)


def calling_frames(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> list[Frame]:
    """The method's frames from the calls that the project makes of it on this very object; where it makes none at all,
    one for what others may call.
    """
    assert isinstance(scope.node, tree.FunctionDef)
    if scope.name == "__post_init__":
        given = (values_of(instance), *post_init_arguments(ev, instance))
        return [bound_frame(ev, FunctionValue(scope.node, class_frame), Arguments(given))]
    frames = ev.frames_of_method(scope, class_frame, instance) if len(scope.node.params) > 1 else []
    if not frames and ev.calls_of_method_are_on_others(scope, class_frame, instance):
        return []
    return frames or [_method_frame(ev, scope, class_frame, instance)]
