"""From a scope to the frames in which it runs: who calls it, with what.

Callers are found by name in the bytes of the project's files, so that only files that mention a name are parsed; a
candidate counts when its callee evaluates to the very function. Where no call can be seen, one frame stands for all:
its parameters are unknown, and its `self` is each object of the class that the project makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import bound_frame, merged
from torchrepro_lint.program.evaluation.construction import init_frames
from torchrepro_lint.program.evaluation.expressions import comprehension_frames
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame, joined_frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.signatures import callable_with
from torchrepro_lint.program.evaluation.values import (
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
    called_name,
    calls_in,
    calls_making,
    calls_of,
    leaves_calls_out,
    leaves_classes_out,
    named_subclasses,
)
from torchrepro_lint.program.running.callees import (
    anything,
    frame_without_callers,
    frames_meaning,
    is_meant,
    is_open,
    may_be,
    without_object,
)
from torchrepro_lint.program.running.decorator_uses import decorator_uses, is_function, plain_definition
from torchrepro_lint.program.running.indirect_calls import any_calls_of, calls_function, indirect_calls
from torchrepro_lint.program.running.property_sets import property_sets
from torchrepro_lint.program.running.started_uses import started_uses

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "BASES_THAT_CALL_NOTHING",
    "all_calls",
    "called_name",
    "calls_of_lambda",
    "calls_of_method_are_on_others",
    "contexts",
    "decorator_uses",
    "frame_without_callers",
    "frames_meaning",
    "frames_of_call",
    "frames_of_method",
    "has_further_calls",
    "instances_of",
    "is_called_outside",
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

#: Bases that call no method of what derives from them but those by the names of a module.
BASES_THAT_CALL_NOTHING = frozenset({"torch.nn.Module", "builtins.object", "abc.ABC", "typing.Generic"})

#: How many frames of a function are told apart. Those of further calls are joined into one, in which a parameter is
#: whatever any of them gives it.
MAX_CONTEXTS = 16
#: How many calls of a function are looked at. Where there are more, some frames have parameters that may be anything.
MAX_CALLS = 256


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
                if len(frames) > MAX_CALLS:
                    return (*islice(frames, MAX_CONTEXTS), frame_without_callers(ev, facts, scope))
    unseen = partial(frame_without_callers, ev, facts, scope)
    return _told_apart(ev, frames, unseen) or (unseen(),)


def _told_apart(ev: Evaluator, frames: Iterable[Frame], unseen: Callable[[], Frame]) -> tuple[Frame, ...]:
    """The first of the frames, and one for all others: `unseen` where these are of objects too many to name."""
    known = tuple(frames)
    if len(known) <= MAX_CONTEXTS:
        return known
    return (*known[:MAX_CONTEXTS], joined_frame(ev, known[MAX_CONTEXTS:]) or unseen())


def _frames_within(ev: Evaluator, facts: ModuleFacts, scope: Scope, outer: Frame) -> Iterator[Frame]:
    node = scope.node
    if isinstance(node, tree.ClassDef):
        yield ev.shared(Frame(facts, scope, outer))
    elif isinstance(node, tree.Comprehension):
        yield from comprehension_frames(ev, node, outer)
    elif isinstance(node, tree.FunctionDef) and not node.params:  # whoever calls it
        yield ev.shared(Frame(facts, scope, outer))
    elif isinstance(node, tree.Lambda):
        called = tuple(islice(_frames_of_lambda(ev, facts, scope, outer), MAX_CALLS + 1)) if node.params else ()
        yield from called or (ev.shared(Frame(facts, scope, outer)),)
    elif isinstance(node, tree.FunctionDef):
        seen = False
        for frame in _frames_of_calls(ev, facts, scope, outer):
            seen = True
            yield frame
        if not seen or has_further_calls(ev, facts, scope) or is_called_outside(ev, facts, scope):
            yield from _frames_unseen(ev, scope, outer)


def is_called_outside(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a function, which is not called by its own name, is also handed to what may call it out of sight."""
    assert isinstance(scope.node, tree.FunctionDef)
    by_name = scope.node.name != "__call__" and any(True for _ in calls_of(ev, facts, scope))
    return not by_name and indirect_calls(ev, facts, scope).escapes


def _frames_unseen(ev: Evaluator, scope: Scope, outer: Frame) -> Iterator[Frame]:
    """Frames of a function that nothing visible calls."""
    assert isinstance(scope.node, tree.FunctionDef)
    function = FunctionValue(scope.node, outer)
    if not isinstance(outer.scope.node, tree.ClassDef) or outer.parent is None:
        yield bound_frame(ev, function, anything())
        return
    cls = ClassValue(outer.scope.node, outer.parent)
    if (given := without_object(scope.node, cls)) is not None:
        yield bound_frame(ev, function, given)
        return
    for instance in instances_of(ev, cls):
        if scope.node.name == "__init__":
            frames = [frame for _, frame in init_frames(ev, instance) if frame.scope is scope]
            if frames:
                yield frames[0]
                continue
        yield bound_frame(ev, function, anything(instance))


def _frames_of_lambda(ev: Evaluator, facts: ModuleFacts, scope: Scope, outer: Frame) -> Iterator[Frame]:
    """The frames of the calls of a lambda that has a name."""
    for call, frame in calls_of_lambda(ev, facts, scope, outer):
        yield from frames_of_call(ev, call, frame, scope, outer)


def calls_of_lambda(ev: Evaluator, facts: ModuleFacts, scope: Scope, outer: Frame) -> Iterator[tuple[tree.Call, Frame]]:
    """The calls, in its own file, of a lambda that has a name: `make = lambda part: DataLoader(part)`."""
    bound = (one for found in outer.scope.bindings.values() for one in found if one.node is scope.node)
    name = next((one.name for one in bound if one.kind == "assign" and not one.unpack), None)
    for one in calls_in(ev, facts, name) if name is not None else ():
        for frame in frames_meaning(ev, one, partial(is_function, scope=scope)):
            yield one.call, frame


def _frames_of_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope, outer: Frame) -> Iterator[Frame]:
    assert isinstance(scope.node, tree.FunctionDef)
    name = scope.node.name
    if name == "__init_subclass__" and isinstance(outer.scope.node, tree.ClassDef):
        yield from _frames_of_subclasses(ev, scope, outer)
    if is_called_unseen(name) and name != "__call__":
        return
    for call, frame in visible_calls(ev, facts, scope):
        yield from frames_of_call(ev, call, frame, scope, outer)
    for value, arguments in uses_without_calls(ev, facts, scope):
        yield from _frames_from(ev, value, arguments, scope, outer)


def frames_of_call(
    ev: Evaluator, call: tree.Call, caller: Frame, scope: Scope, outer: Frame | None = None
) -> Iterator[Frame]:
    """The frames of a function in which one call of it runs; with `outer`, of the function that is defined there."""
    functions = ev.values(call.func, caller)
    if not functions:
        return
    arguments = ev.arguments(call.args, caller)
    for function in ordered(callable_with(ev, functions, arguments)):
        yield from _frames_from(ev, function, arguments, scope, outer)


def is_called_unseen(name: str) -> bool:
    """Whether the language or a framework calls what has this name, with arguments that no call shows."""
    return name in method_words("called_by_frameworks") or (name.startswith("__") and name.endswith("__"))


def uses_without_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[tuple[Value, Arguments]]:
    """Where a function runs without a call of it that is written: in a process, as a decorator or as the setter of a
    property; with its arguments.
    """
    assert isinstance(scope.node, tree.FunctionDef)
    yield from started_uses(ev, scope)
    for call, setter, frame in property_sets(ev, facts, scope):
        yield setter, ev.arguments(call.args, frame)
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
    """The calls in the project whose callee can be this function, each with a frame in which it runs: the first of
    them, `MAX_CALLS` at most. Who needs all of them asks `all_calls`. None of a lambda or a comprehension, which
    nothing calls by a name.
    """
    return _kept_calls(ev, facts, scope)[:MAX_CALLS]


def all_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> tuple[tuple[tree.Call, Frame], ...]:
    """All calls in the project whose callee can be this function; none where there are more than are looked at, so that
    nothing is said of all of them.
    """
    return () if has_further_calls(ev, facts, scope) else visible_calls(ev, facts, scope)


def has_further_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether there may be calls of a function beyond those that are looked at; of a lambda there always may."""
    if not isinstance(scope.node, tree.FunctionDef):
        return True
    return len(_kept_calls(ev, facts, scope)) > MAX_CALLS or leaves_calls_out(ev, facts, scope)


def _kept_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> tuple[tuple[tree.Call, Frame], ...]:
    kept = MAX_CALLS + 1
    return ev.remembered(("calls", id(scope)), lambda: tuple(islice(_visible_calls(ev, facts, scope), kept)), ())


def _visible_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[tuple[tree.Call, Frame]]:
    if not isinstance(scope.node, tree.FunctionDef):
        return
    wanted = partial(calls_function, ev, scope)
    for one in any_calls_of(ev, facts, scope):
        for frame in frames_meaning(ev, one, wanted):
            yield one.call, frame


def instances_of(ev: Evaluator, cls: ClassValue) -> tuple[Instance, ...]:
    """The objects of the class or its subclasses that the project makes; if it makes none, one made unseen of each. An
    object made unseen is also among them where there are more than `MAX_CONTEXTS`, or more subclasses than are known.
    """
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
                    if len(found) > MAX_CONTEXTS:
                        return (*islice(found, MAX_CONTEXTS), Instance(cls, None, None))
    if found and leaves_classes_out(ev, cls):
        found.setdefault(Instance(cls, None, None))
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
    for value, arguments in uses_without_calls(ev, facts, scope):
        if isinstance(value, MethodValue) and value.receiver == instance:
            for made in _frames_from(ev, value, arguments, scope, None):
                frames.setdefault(made)
    assert isinstance(scope.node, tree.FunctionDef)
    unseen = partial(bound_frame, ev, FunctionValue(scope.node, class_frame), anything(instance))
    if has_further_calls(ev, facts, scope):
        return [*islice(frames, MAX_CONTEXTS), unseen()]
    return list(_told_apart(ev, frames, unseen))


def calls_of_method_are_on_others(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> bool:
    """Whether a method is called, and each call is on an object that is made at another place than this one."""
    assert isinstance(scope.node, tree.FunctionDef)
    if instance.site is None or is_called_unseen(scope.node.name) or scope.node.decorators:
        return False
    calls = all_calls(ev, class_frame.facts, scope)
    called = [ev.values(call.func, frame) for call, frame in calls]
    return bool(called) and all(
        values and all(_is_of_another(value, instance) for value in values) for values in called
    )


def _is_of_another(function: Value, instance: Instance) -> bool:
    """Whether what is called is the method of an object that is known, and not of this one."""
    if not isinstance(function, MethodValue) or not isinstance(function.receiver, Instance):
        return False
    return function.receiver.site not in (None, instance.site)
