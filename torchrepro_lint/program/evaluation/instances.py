"""What the attributes of objects of project classes are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import bound_frame, external_argument
from torchrepro_lint.program.evaluation.changes import joined, opened, with_changes
from torchrepro_lint.program.evaluation.class_stores import assigned_to_class, outside_stores
from torchrepro_lint.program.evaluation.construction import base_arguments, init_frames
from torchrepro_lint.program.evaluation.containers import unpack
from torchrepro_lint.program.evaluation.dataclass_fields import dataclass_field
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame
from torchrepro_lint.program.evaluation.names import binding_values
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    Constant,
    DictValue,
    FunctionValue,
    Instance,
    MemberOf,
    SequenceValue,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["base_arguments", "enclosing_frame", "init_frames", "instance_attribute"]


def instance_attribute(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What `instance.attr` can be: a property, what methods assign, a class attribute, or what a base holds."""
    from_class, is_property = classes.bind_first(ev, instance, attr)
    if is_property:
        return from_class
    field = dataclass_field(ev, instance, attr)
    if field is not None:
        from_class = field
    assigned, certain = _assigned_by_methods(ev, instance, attr)
    outside = _assigned_outside(ev, instance, attr)
    if from_class and field is None:
        from_class = union(from_class, assigned_to_class(ev, instance.cls, attr))
        if all(isinstance(value, Constant) for value in from_class) and _sets_any_attribute(ev, instance.cls):
            from_class = union(from_class, unknown())
    if assigned or outside:
        # A class attribute is what holds before, or without, an assignment in __init__.
        return union(assigned, outside, NOTHING if certain else from_class)
    if from_class:
        return from_class
    held = _held_by_external_base(ev, instance, attr)
    if held:
        return held
    if classes.find_method(ev, instance.cls, "__getattr__") or classes.has_unknown_base(ev, instance.cls):
        return NOTHING if attr.startswith("__") else unknown()
    if any(name != "builtins.object" for name in classes.external_bases(ev, instance.cls)):
        return NOTHING if attr.startswith("__") else values_of(MemberOf(instance, attr))
    return NOTHING


def _sets_any_attribute(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a method sets attributes by names that the text does not show: `setattr(self, name, value)`."""
    return any(_has_open_setattr(ev, base) for base in classes.mro(ev, cls) if isinstance(base, ClassValue))


def _has_open_setattr(ev: Evaluator, cls: ClassValue) -> bool:
    return ev.remembered(("sets-any-attribute", id(cls.node)), lambda: _finds_open_setattr(ev, cls), False)


def _finds_open_setattr(ev: Evaluator, cls: ClassValue) -> bool:
    for method in ev.class_frame(cls).scope.children:
        for call, _ in method.calls:
            match call:
                case tree.Call(func=tree.Name(id="setattr"), args=(tree.Arg(value=tree.Name(id=owner)), name, _)):
                    if owner == method.self_name and not isinstance(name.value, tree.Const):
                        return True
                case tree.Call(
                    func=tree.Attribute(value=tree.Attribute(value=tree.Name(id=owner), attr="__dict__"), attr="update")
                    | tree.Attribute(
                        value=tree.Call(func=tree.Name(id="vars"), args=(tree.Arg(value=tree.Name(id=owner)),)),
                        attr="update",
                    )
                ):
                    if owner == method.self_name:
                        return True
    return False


def _assigned_by_methods(ev: Evaluator, instance: Instance, attr: str) -> tuple[Values, bool]:
    """What the class's methods assign to `self.attr`, and whether `__init__` surely does."""
    key = f"self.{attr}"
    parts: list[Values] = []
    certain = False
    inits = init_frames(ev, instance)
    init_scopes = set()
    for _, frame in inits:
        init_scopes.add(id(frame.scope))
        if certain:
            continue  # the most derived class wins where it surely assigns
        found, sure = _reaching_self(ev, key, frame)
        parts.append(found)
        certain = certain or sure
    for base in classes.mro(ev, instance.cls):
        if not isinstance(base, ClassValue):
            continue
        class_frame = ev.class_frame(base)
        for scope in class_frame.scope.children:
            if key in scope.bindings and id(scope) not in init_scopes and isinstance(scope.node, tree.FunctionDef):
                if scope.node.name == "__init__":
                    continue  # an __init__ that does not run for this object
                frame = _method_frame(ev, scope, class_frame, instance)
                parts.append(_reaching_self(ev, key, frame)[0])
    values = union(*parts) if parts else NOTHING
    return _with_method_changes(ev, instance, attr, values), certain


def _reaching_self(ev: Evaluator, key: str, frame: Frame) -> tuple[Values, bool]:
    bindings, certain = frame.scope.reaching(key, END, lambda path: ev.decide(path, frame))
    values = union(*(binding_values(ev, binding, frame) for binding in bindings)) if bindings else NOTHING
    return values, certain


def _method_frame(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> Frame:
    """A method's frame where only `self` is known; what visible calls pass joins in for the rest."""
    assert isinstance(scope.node, tree.FunctionDef)
    function = FunctionValue(scope.node, class_frame)
    return bound_frame(ev, function, Arguments((values_of(instance),), (), True, True))


def _with_method_changes(ev: Evaluator, instance: Instance, attr: str, values: Values) -> Values:
    """Adds what any method puts into the list or dict `self.attr` (`self.attr[key] = value`, `.append(value)`)."""
    if not any(isinstance(value, (DictValue, SequenceValue)) for value in values):
        return values
    init = {id(frame.scope): frame for _, frame in init_frames(ev, instance)}
    for base in classes.mro(ev, instance.cls):
        if not isinstance(base, ClassValue):
            continue
        class_frame = ev.class_frame(base)
        for method in class_frame.scope.children:
            target = f"{method.self_name}.{attr}"
            for scope in _functions_in(method):
                if not scope.touches(target):
                    continue
                if id(scope) in init:
                    frames = [init[id(scope)]]
                elif scope is not method:  # a decorator that a method makes: it knows the method's `self`
                    frames = [frame for frame in ev.contexts(base.frame.facts, scope) if instance in frame.receiver()]
                elif scope.name == "__init__":
                    continue
                else:
                    frames = _calling_frames(ev, scope, class_frame, instance)
                changed = [with_changes(ev, values, frame, -1, END, target) for frame in frames]
                after = union(*changed) if changed else values
                # A method other than __init__ may have run any number of times, also never.
                values = after if id(scope) in init else joined(union(values, *(opened(value) for value in after)))
    return values


def _functions_in(method: Scope) -> Iterator[Scope]:
    """A method and the functions inside it."""
    if isinstance(method.node, tree.FunctionDef):
        yield method
        for inner in method.children:
            yield from _functions_in(inner)


def _calling_frames(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> list[Frame]:
    """The method's frames from the calls that the project makes of it on this very object."""
    return ev.frames_of_method(scope, class_frame, instance) or [_method_frame(ev, scope, class_frame, instance)]


def _assigned_outside(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What the file that makes the object assigns to `name.attr` afterwards."""
    if instance.site is None:
        return NOTHING
    facts = ev.project.facts(instance.site.path)
    if facts is None:
        return NOTHING
    parts = []
    for scope, store in outside_stores(ev, facts).get(attr, ()):
        frame = enclosing_frame(ev, facts, scope)
        assert isinstance(store.target, tree.Attribute)
        if any(
            isinstance(value, Instance) and value.site == instance.site
            for value in ev.values(store.target.value, frame)
        ):
            parts.append(unpack(ev, ev.values(store.value, frame), store.unpack))
    return union(*parts) if parts else NOTHING


def _held_by_external_base(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """A known library class keeps its arguments under their names: `ImageFolder(transform=t).transform` is `t`."""
    for name, arguments in base_arguments(ev, instance):
        known = external_callable(name)
        if known is not None and attr in known.parameters:
            values, _ = external_argument(arguments, known.parameters, attr)
            if values:
                return values
    return NOTHING
