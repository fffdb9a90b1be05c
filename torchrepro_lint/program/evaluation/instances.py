"""What the attributes of objects of project classes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Binding, Scope, Store
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import external_argument
from torchrepro_lint.program.evaluation.class_changes import with_class_changes
from torchrepro_lint.program.evaluation.class_stores import assigned_to_class
from torchrepro_lint.program.evaluation.construction import base_arguments, init_frames
from torchrepro_lint.program.evaluation.containers import unpack
from torchrepro_lint.program.evaluation.dataclass_fields import dataclass_field
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame
from torchrepro_lint.program.evaluation.handed_lists import after_handing, handings
from torchrepro_lint.program.evaluation.method_changes import calling_frames, with_method_changes
from torchrepro_lint.program.evaluation.names import binding_values
from torchrepro_lint.program.evaluation.open_attributes import set_by_names, sets_any_attribute
from torchrepro_lint.program.evaluation.outside_stores import outside_stores
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    Constant,
    Instance,
    MemberOf,
    MethodValue,
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
    for name, values in instance.set_last:
        if name == attr:
            return values
    from_class, is_property = classes.bind_first(ev, instance, attr)
    if is_property:
        return from_class
    from_class = with_class_changes(ev, instance.cls, attr, from_class)
    field = dataclass_field(ev, instance, attr)
    if field is not None:
        from_class = with_method_changes(ev, instance, attr, field)
    assigned, certain = _assigned_by_methods(ev, instance, attr)
    outside = _assigned_outside(ev, instance, attr)
    if not assigned:
        assigned = set_by_names(ev, instance, attr)
        if not assigned and not outside and all(isinstance(value, Constant) for value in from_class):
            outside = _assigned_by_functions(ev, instance, attr)
    if from_class and field is None:
        from_class = union(from_class, assigned_to_class(ev, instance.cls, attr))
        if all(isinstance(value, Constant) for value in from_class) and sets_any_attribute(ev, instance.cls):
            from_class = union(from_class, unknown())
    if assigned or outside:
        # A class attribute is what holds before, or without, an assignment in __init__.
        return union(assigned, outside, NOTHING if certain else from_class)
    if from_class:
        return from_class
    held = _held_by_external_base(ev, instance, attr)
    if held:
        return held
    if classes.find_method(ev, instance.cls, "__getattr__"):
        return NOTHING if attr.startswith("__") else union(_by_getattr(ev, instance, attr), unknown())
    if classes.has_unknown_base(ev, instance.cls):
        return NOTHING if attr.startswith("__") else unknown()
    if any(name != "builtins.object" for name in classes.external_bases(ev, instance.cls)):
        return NOTHING if attr.startswith("__") else values_of(MemberOf(instance, attr))
    return NOTHING


def _by_getattr(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What the class's own `__getattr__` gives for an attribute: that of an object it wraps, as a rule."""
    methods = frozenset(method for method in ev.attribute(instance, "__getattr__") if isinstance(method, MethodValue))
    return ev.call_all(methods, Arguments((values_of(Constant(attr)),)), None)


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
                frames = calling_frames(ev, scope, class_frame, instance)
                parts.extend(_reaching_self(ev, key, frame)[0] for frame in frames)
    values = union(*parts) if parts else NOTHING
    return with_method_changes(ev, instance, attr, values), certain


def _reaching_self(ev: Evaluator, key: str, frame: Frame) -> tuple[Values, bool]:
    bindings, certain = frame.scope.reaching(key, END, lambda path: ev.decide(path, frame))
    values = union(*(binding_values(ev, binding, frame) for binding in bindings)) if bindings else NOTHING
    return values, certain and not any(_is_added_to(ev, key, binding, frame) for binding in bindings)


def _is_added_to(ev: Evaluator, key: str, binding: Binding, frame: Frame) -> bool:
    """Whether a binding adds to what another method has assigned: `self.parts += [part]` below `super().__init__()`."""
    match binding.kind, binding.node:
        case "augmented", tree.AugAssign(site=site):
            return not frame.scope.reaching(key, site, lambda path: ev.decide(path, frame))[1]
    return False


def _assigned_outside(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What the file that makes the object assigns to `name.attr` afterwards, also where a function is handed it."""
    if instance.site is None:
        return NOTHING
    facts = ev.project.facts(instance.site.path)
    if facts is None:
        return NOTHING
    parts = []
    for scope, store in outside_stores(ev, facts).get(attr, ()):
        assert isinstance(store.target, tree.Attribute)
        owner = store.target.value
        is_handed = isinstance(owner, tree.Name) and any(
            binding.kind == "param" for binding in scope.bindings.get(owner.id, ())
        )
        for frame in ev.contexts(facts, scope) if is_handed else (enclosing_frame(ev, facts, scope),):
            if any(isinstance(value, Instance) and value.site == instance.site for value in ev.values(owner, frame)):
                parts.append(unpack(ev, ev.values(store.value, frame), store.unpack))
    return union(*parts) if parts else NOTHING


def _assigned_by_functions(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What functions assign to an attribute to which the constructor passes the object: `prepare(self)`."""

    def stores(scope: Scope, parameter: str) -> list[Store]:
        return [store for store in scope.stores if _is_member(store.target, parameter, attr) and not store.augmented]

    def assigned(inner: Frame, parameter: str) -> Values:
        return union(*(unpack(ev, ev.values(one.value, inner), one.unpack) for one in stores(inner.scope, parameter)))

    parts: list[Values] = []
    for _, frame in init_frames(ev, instance):
        for handing in handings(ev, frame.scope, frame.scope.self_name or ""):
            if ev.decide(handing.path, frame) is not False:
                made, _ = after_handing(
                    ev, NOTHING, handing, frame, lambda scope, name: bool(stores(scope, name)), assigned
                )
                parts.append(made)
    return union(*parts) if parts else NOTHING


def _is_member(target: tree.Expr, owner: str, attr: str) -> bool:
    match target:
        case tree.Attribute(value=tree.Name(id=name), attr=own):
            return (name, own) == (owner, attr)
    return False


def _held_by_external_base(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """A known library class keeps its arguments under their names: `ImageFolder(transform=t).transform` is `t`."""
    for name, arguments in base_arguments(ev, instance):
        known = external_callable(name)
        if known is not None and attr in known.parameters:
            values, _ = external_argument(arguments, known.parameters, attr)
            if values:
                return values
    return NOTHING
