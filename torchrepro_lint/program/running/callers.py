"""From a scope to the frames in which it runs: who calls it, with what.

Callers are found by name in the bytes of the project's files, so that only files that mention a name are parsed; a
candidate counts when its callee evaluates to the very function. Where no call can be seen, one frame stands for all:
its parameters are unknown, and its `self` is each object of the class that the project makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import bound_frame, merged
from torchrepro_lint.program.evaluation.construction import init_frames
from torchrepro_lint.program.evaluation.expressions import comprehension_frames
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    ClassValue,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Value,
    values_of,
)
from torchrepro_lint.program.running.call_index import (
    NamedCall,
    called_name,
    calls_in,
    calls_making,
    calls_of,
    named_subclasses,
)
from torchrepro_lint.program.running.decorator_uses import decorator_uses, is_function, plain_definition
from torchrepro_lint.program.running.started_uses import started_uses

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "called_name",
    "contexts",
    "decorator_uses",
    "frame_without_callers",
    "frames_meaning",
    "frames_of_call",
    "frames_of_method",
    "instances_of",
    "is_called_unseen",
    "is_class",
    "is_meant",
    "is_open",
    "may_be",
    "ordered",
    "plain_definition",
    "subclasses",
    "uses_without_calls",
    "visible_calls",
]

MAX_CONTEXTS = 16


def contexts(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> tuple[Frame, ...]:
    """The frames in which `scope` runs, as far as the project shows; never empty."""
    alone = (frame_without_callers(ev, facts, scope),)
    return ev.remembered(("contexts", id(scope)), lambda: _contexts(ev, facts, scope), alone, upward=True)


def _contexts(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> tuple[Frame, ...]:
    if scope.parent is None:
        return (ev.module_frame(facts),)
    frames: dict[Frame, None] = {}
    for outer in contexts(ev, facts, scope.parent):
        with ev.further_up():
            for frame in _frames_within(ev, facts, scope, outer):
                frames.setdefault(frame)
                if len(frames) >= MAX_CONTEXTS:
                    return tuple(frames)
    return tuple(frames) or (frame_without_callers(ev, facts, scope),)


def _frames_within(ev: Evaluator, facts: ModuleFacts, scope: Scope, outer: Frame) -> Iterator[Frame]:
    node = scope.node
    if isinstance(node, tree.ClassDef):
        yield ev.shared(Frame(facts, scope, outer))
    elif isinstance(node, tree.Comprehension):
        yield from comprehension_frames(ev, node, outer)
    elif isinstance(node, tree.FunctionDef) and not node.params:  # whoever calls it
        yield ev.shared(Frame(facts, scope, outer))
    elif isinstance(node, tree.Lambda):
        called = tuple(islice(_frames_of_lambda(ev, facts, scope, outer), MAX_CONTEXTS)) if node.params else ()
        yield from called or (ev.shared(Frame(facts, scope, outer)),)
    elif isinstance(node, tree.FunctionDef):
        seen = False
        for frame in _frames_of_calls(ev, facts, scope, outer):
            seen = True
            yield frame
        if not seen:
            yield from _frames_unseen(ev, scope, outer)


def frame_without_callers(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Frame:
    """The frame of a scope of whose callers nothing is known."""
    parent = frame_without_callers(ev, facts, scope.parent) if scope.parent is not None else None
    if parent is None:
        return ev.module_frame(facts)
    if isinstance(scope.node, tree.FunctionDef) and isinstance(parent.scope.node, tree.ClassDef) and scope.self_name:
        assert parent.parent is not None
        cls = ClassValue(parent.scope.node, parent.parent)
        function = FunctionValue(scope.node, parent)
        return bound_frame(ev, function, _without_object(scope.node, cls) or _anything(Instance(cls, None, None)))
    return ev.shared(Frame(facts, scope, parent))


def _frames_unseen(ev: Evaluator, scope: Scope, outer: Frame) -> Iterator[Frame]:
    """Frames of a function that nothing visible calls."""
    assert isinstance(scope.node, tree.FunctionDef)
    function = FunctionValue(scope.node, outer)
    if not isinstance(outer.scope.node, tree.ClassDef) or outer.parent is None:
        yield bound_frame(ev, function, _anything())
        return
    cls = ClassValue(outer.scope.node, outer.parent)
    if (given := _without_object(scope.node, cls)) is not None:
        yield bound_frame(ev, function, given)
        return
    for instance in instances_of(ev, cls):
        if scope.node.name == "__init__":
            frames = [frame for _, frame in init_frames(ev, instance) if frame.scope is scope]
            if frames:
                yield frames[0]
                continue
        yield bound_frame(ev, function, _anything(instance))


def _without_object(node: tree.FunctionDef, cls: ClassValue) -> Arguments | None:
    """What a static method or a class method gets where nothing visible calls it; None for the method of an object."""
    if classes.is_static(node):
        return _anything()
    of_class = any(classes.decorator_name(decorator) == "classmethod" for decorator in node.decorators)
    return _anything(cls) if of_class else None


def _anything(*receiver: Value) -> Arguments:
    """Arguments of which nothing is known, behind the object or the class whose method is called."""
    return Arguments(tuple(values_of(value) for value in receiver), (), True, True)


def _frames_of_lambda(ev: Evaluator, facts: ModuleFacts, scope: Scope, outer: Frame) -> Iterator[Frame]:
    """The frames of the calls, in its own file, of a lambda that has a name: `make = lambda part: DataLoader(part)`."""
    bound = (one for found in outer.scope.bindings.values() for one in found if one.node is scope.node)
    name = next((one.name for one in bound if one.kind == "assign" and not one.unpack), None)
    for one in calls_in(ev, facts, name) if name is not None else ():
        for frame in frames_meaning(ev, one, partial(is_function, scope=scope)):
            yield from frames_of_call(ev, one.call, frame, scope, outer)


def _frames_of_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope, outer: Frame) -> Iterator[Frame]:
    assert isinstance(scope.node, tree.FunctionDef)
    name = scope.node.name
    if name == "__init_subclass__" and isinstance(outer.scope.node, tree.ClassDef):
        yield from _frames_of_subclasses(ev, scope, outer)
    if is_called_unseen(name):
        return
    for call, frame in visible_calls(ev, facts, scope):
        yield from frames_of_call(ev, call, frame, scope, outer)
    for value, arguments in uses_without_calls(ev, scope):
        yield from _frames_from(ev, value, arguments, scope, outer)


def frames_of_call(
    ev: Evaluator, call: tree.Call, caller: Frame, scope: Scope, outer: Frame | None = None
) -> Iterator[Frame]:
    """The frames of a function in which one call of it runs; with `outer`, of the function that is defined there."""
    for function in ordered(ev.values(call.func, caller)):
        yield from _frames_from(ev, function, ev.arguments(call.args, caller), scope, outer)


def is_called_unseen(name: str) -> bool:
    """Whether the language or a framework calls what has this name, with arguments that no call shows."""
    return name in method_words("called_by_frameworks") or (name.startswith("__") and name.endswith("__"))


def uses_without_calls(ev: Evaluator, scope: Scope) -> Iterator[tuple[Value, Arguments]]:
    """Where a function runs without a call of it that is written: in a process, as a decorator; with its arguments."""
    assert isinstance(scope.node, tree.FunctionDef)
    yield from started_uses(ev, scope)
    if _takes_one(scope.node):
        yield from decorator_uses(ev, scope)


def _takes_one(node: tree.FunctionDef) -> bool:
    """Whether the function can be a decorator, which is called with one argument."""
    return 1 <= len([param for param in node.params if param.kind == "positional"]) <= 2


def _frames_from(
    ev: Evaluator, function: Value, arguments: Arguments, scope: Scope, outer: Frame | None
) -> Iterator[Frame]:
    match function:
        case FunctionValue(node=node) if node is scope.node:
            if outer is None or function.frame == outer:
                yield bound_frame(ev, function, arguments)
        case MethodValue(function=inner) if inner.node is scope.node:
            if outer is None or inner.frame == outer:
                yield classes.method_frame(ev, function, arguments)
        case Partial():
            for inner_function in ordered(function.function):
                yield from _frames_from(ev, inner_function, merged(function.arguments, arguments), scope, outer)
        case Instance():
            for method in ordered(ev.attribute(function, "__call__")):
                yield from _frames_from(ev, method, arguments, scope, outer)


def visible_calls(
    ev: Evaluator, facts: ModuleFacts, scope: Scope
) -> tuple[tuple[tree.Call, Frame], ...]:  # fmt: skip
    """The calls in the project whose callee can be this function, each with a frame in which it runs."""
    return ev.remembered(
        ("calls", id(scope)), lambda: tuple(islice(_visible_calls(ev, facts, scope), MAX_CONTEXTS)), ()
    )


def _visible_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[tuple[tree.Call, Frame]]:
    wanted = partial(is_function, scope=scope)
    for one in calls_of(ev, facts, scope):
        for frame in frames_meaning(ev, one, wanted):
            yield one.call, frame


def frames_meaning(ev: Evaluator, one: NamedCall, wanted: Callable[[Value], bool]) -> Iterator[Frame]:
    """The frames in which a call is made, and its callee is what is wanted."""
    if is_meant(ev, one, wanted) is False:
        return
    for frame in contexts(ev, one.facts, one.scope):
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
                return False
    return None


def instances_of(ev: Evaluator, cls: ClassValue) -> tuple[Instance, ...]:
    """The objects of the class or its subclasses that the project makes; if it makes none, one made unseen of each."""
    return ev.remembered(
        ("instances", cls.node, cls.frame),
        lambda: _instances_of(ev, cls),
        (Instance(cls, None, None),),
    )  # fmt: skip


def _instances_of(ev: Evaluator, cls: ClassValue) -> tuple[Instance, ...]:
    found: dict[Instance, None] = {}
    for one in calls_making(ev, cls):
        for frame in frames_meaning(ev, one, partial(is_class, ev, cls)):
            for value in ordered(ev.values(one.call.func, frame)):
                if isinstance(value, ClassValue) and is_class(ev, cls, value):
                    made = Instance(value, ev.arguments(one.call.args, frame), ev.site(one.call, frame))
                    found.setdefault(made)
                    if len(found) >= MAX_CONTEXTS:
                        return tuple(found)
    return tuple(found) or tuple(_made_unseen(ev, cls))


def _made_unseen(ev: Evaluator, cls: ClassValue) -> Iterator[Instance]:
    """An object each of the class and of its subclasses, as a registry or another package may make them."""
    yield Instance(cls, None, None)
    for derived in subclasses(ev, cls):
        yield Instance(derived, None, None)


def subclasses(ev: Evaluator, cls: ClassValue) -> Iterator[ClassValue]:
    """The classes of the project that derive from a class, itself not among them: one may be called like its base."""
    for facts, node in named_subclasses(ev, cls):
        if node is cls.node:
            continue
        around = facts.scope_of(node).parent
        assert around is not None
        derived = ClassValue(node, enclosing_frame(ev, facts, around))
        if is_class(ev, cls, derived):
            yield derived


def _frames_of_subclasses(ev: Evaluator, scope: Scope, class_frame: Frame) -> Iterator[Frame]:
    """The frames of `__init_subclass__`: Python calls it for each subclass, with the keywords of its definition."""
    assert isinstance(scope.node, tree.FunctionDef)
    assert isinstance(class_frame.scope.node, tree.ClassDef) and class_frame.parent is not None
    for derived in subclasses(ev, ClassValue(class_frame.scope.node, class_frame.parent)):
        keywords = tuple(arg for arg in derived.node.bases if arg.keyword not in (None, "metaclass"))
        given = ev.arguments(keywords, derived.frame)
        yield bound_frame(
            ev,
            FunctionValue(scope.node, class_frame),
            Arguments((values_of(derived),), given.keywords, False, given.open_keywords),
        )


def is_class(ev: Evaluator, cls: ClassValue, value: Value) -> bool:
    """Whether a value is this class or a subclass."""
    return isinstance(value, ClassValue) and any(
        isinstance(base, ClassValue) and base.node is cls.node for base in classes.mro(ev, value)
    )


def frames_of_method(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> list[Frame]:
    """The frames of the calls of a method on `instance`, uses as a decorator included."""
    frames: dict[Frame, None] = {}
    facts = class_frame.facts
    for call, frame in visible_calls(ev, facts, scope):
        for function in ordered(ev.values(call.func, frame)):
            if isinstance(function, MethodValue) and function.receiver == instance:
                for made in _frames_from(ev, function, ev.arguments(call.args, frame), scope, None):
                    frames.setdefault(made)
    for value, arguments in chain(started_uses(ev, scope), decorator_uses(ev, scope)):
        if isinstance(value, MethodValue) and value.receiver == instance:
            for made in _frames_from(ev, value, arguments, scope, None):
                frames.setdefault(made)
    return list(frames)[:MAX_CONTEXTS]
