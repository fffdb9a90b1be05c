"""Objects of project classes: how they were made, and what their attributes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.program import attributes, containers
from torchrepro_lint.program.frames import Frame
from torchrepro_lint.program.values import (
    NOTHING,
    Arguments,
    ClassValue,
    DictValue,
    External,
    FunctionValue,
    Instance,
    MemberOf,
    SequenceValue,
    SuperValue,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluator import Evaluator

__all__ = ["base_arguments", "enclosing_frame", "init_frames", "instance_attribute"]


def instance_attribute(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What `instance.attr` can be: a property, what methods assign, a class attribute, or what a base holds."""
    from_class, is_property = attributes.bind_first(ev, instance, attr)
    if is_property:
        return from_class
    assigned, certain = _assigned_by_methods(ev, instance, attr)
    outside = _assigned_outside(ev, instance, attr)
    if assigned or outside:
        # A class attribute is what holds before, or without, an assignment in __init__.
        return union(assigned, outside, NOTHING if certain else from_class)
    if from_class:
        return from_class
    field = _dataclass_field(ev, instance, attr)
    if field is not None:
        return field
    held = _held_by_external_base(ev, instance, attr)
    if held:
        return held
    if attributes.find_method(ev, instance.cls, "__getattr__") or attributes.has_unknown_base(ev, instance.cls):
        return NOTHING if attr.startswith("__") else unknown()
    if any(name != "builtins.object" for name in attributes.external_bases(ev, instance.cls)):
        return NOTHING if attr.startswith("__") else values_of(MemberOf(instance, attr))
    return NOTHING


# --- construction ---------------------------------------------------------------------------------------------


def init_frames(ev: Evaluator, instance: Instance) -> tuple[tuple[ClassValue, Frame], ...]:
    """The frames of the `__init__`s that run when the instance is made, the most derived first."""
    return ev.remembered(("init", instance), lambda: _init_chain(ev, instance)[0], ())


def base_arguments(ev: Evaluator, instance: Instance) -> tuple[tuple[str, Arguments], ...]:
    """The external bases that are initialised, each with the arguments that reach it."""
    return ev.remembered(("base-arguments", instance), lambda: _init_chain(ev, instance)[1], ())


def _init_chain(
    ev: Evaluator, instance: Instance
) -> tuple[tuple[tuple[ClassValue, Frame], ...], tuple[tuple[str, Arguments], ...]]:
    from torchrepro_lint.program.calls import bound_frame

    frames: list[tuple[ClassValue, Frame]] = []
    external: list[tuple[str, Arguments]] = []
    given = instance.arguments or Arguments((), (), True, True)
    pending = [(attributes.mro(ev, instance.cls), given)]
    seen: set[int] = set()
    while pending and len(seen) < 12:
        order, arguments = pending.pop(0)
        target = _first_init(ev, order)
        if target is None:
            continue
        owner, init = target
        if isinstance(owner, External):
            if owner.name != "builtins.object":
                external.append((owner.name, arguments))
            continue
        assert init is not None
        if id(init.node) in seen:
            continue
        seen.add(id(init.node))
        with_self = Arguments(
            (values_of(instance), *arguments.positional),
            arguments.keywords,
            arguments.open_positional,
            arguments.open_keywords,
        )
        frame = bound_frame(ev, init, with_self)
        frames.append((owner, frame))
        for call, path in frame.scope.calls:
            following = _init_call(ev, call, instance, owner)
            if following is not None and ev.decide(path, frame) is not False:
                args = call.args if following[1] else call.args[1:]
                pending.append((following[0], ev.arguments(args, frame)))
    return tuple(frames), tuple(external)


def _first_init(
    ev: Evaluator, order: tuple[ClassValue | External, ...]
) -> tuple[ClassValue | External, FunctionValue | None] | None:
    for base in order:
        if isinstance(base, External):
            # torch's and Python's abstract bases have no arguments of interest, but more bases may follow them.
            if base.name in _PLAIN_BASES:
                continue
            return base, None
        for value in attributes.class_attribute(ev, base, "__init__"):
            if isinstance(value, FunctionValue):
                return base, value
    return None


_PLAIN_BASES = frozenset(
    {
        "builtins.object", "abc.ABC", "typing.Generic", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset",
        "torch.nn.Module",
    }
)  # fmt: skip


def _init_call(
    ev: Evaluator, call: tree.Call, instance: Instance, owner: ClassValue
) -> tuple[tuple[ClassValue | External, ...], bool] | None:
    """For `super().__init__(...)`: the classes after `owner`, True; for `Base.__init__(self, ...)`: its own, False."""
    match call.func:
        case tree.Attribute(value=tree.Call(func=tree.Name(id="super")), attr="__init__"):
            order = attributes.mro(ev, instance.cls)
            return attributes._after(order, owner), True
        case tree.Attribute(value=base, attr="__init__") if call.args:
            frame = ev.class_frame(owner)
            for value in attributes.sorted_bases(ev.values(base, frame)):
                if isinstance(value, ClassValue):
                    return attributes.mro(ev, value), False
                return (value,), False
    return None


# --- attributes -----------------------------------------------------------------------------------------------


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
    for base in attributes.mro(ev, instance.cls):
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
    from torchrepro_lint.program.names import binding_values

    bindings, certain = frame.scope.reaching(key, END, lambda path: ev.decide(path, frame))
    values = union(*(binding_values(ev, binding, frame) for binding in bindings)) if bindings else NOTHING
    return values, certain


def _method_frame(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> Frame:
    """A method's frame where only `self` is known; what visible calls pass joins in for the rest."""
    from torchrepro_lint.program.calls import bound_frame

    assert isinstance(scope.node, tree.FunctionDef)
    function = FunctionValue(scope.node, class_frame)
    return bound_frame(ev, function, Arguments((values_of(instance),), (), True, True))


def _with_method_changes(ev: Evaluator, instance: Instance, attr: str, values: Values) -> Values:
    """Adds what any method puts into the list or dict `self.attr` (`self.attr[key] = value`, `.append(value)`)."""
    if not any(isinstance(value, (DictValue, SequenceValue)) for value in values):
        return values
    init = {id(frame.scope): frame for _, frame in init_frames(ev, instance)}
    for base in attributes.mro(ev, instance.cls):
        if not isinstance(base, ClassValue):
            continue
        class_frame = ev.class_frame(base)
        for scope in class_frame.scope.children:
            if not isinstance(scope.node, tree.FunctionDef) or not _changes(scope, attr):
                continue
            if id(scope) in init:
                frames = [init[id(scope)]]
            elif scope.node.name == "__init__":
                continue
            else:
                frames = _calling_frames(ev, scope, class_frame, instance)
            changed = [
                containers.with_changes(
                    ev, values, frame, -1, END, lambda node, s=scope: _is_self_attribute(node, attr, s.self_name)
                )
                for frame in frames
            ]
            joined = union(*changed) if changed else values
            # A method other than __init__ may have run any number of times, also never.
            values = joined if id(scope) in init else union(values, *(containers.opened(value) for value in joined))
    return values


def _changes(scope: Scope, attr: str) -> bool:
    name = scope.self_name
    for store in scope.stores:
        if isinstance(store.target, tree.Subscript) and _is_self_attribute(store.target.value, attr, name):
            return True
    for call, _ in scope.calls:
        if isinstance(call.func, tree.Attribute) and _is_self_attribute(call.func.value, attr, name):
            return True
    return False


def _is_self_attribute(node: tree.Expr, attr: str, self_name: str | None) -> bool:
    match node:
        case tree.Attribute(value=tree.Name(id=owner), attr=name):
            return owner == self_name and name == attr
    return False


def _calling_frames(ev: Evaluator, scope: Scope, class_frame: Frame, instance: Instance) -> list[Frame]:
    """The method's frames from the calls that the project makes of it on this very object."""
    from torchrepro_lint.program.callers import frames_of_method

    return frames_of_method(ev, scope, class_frame, instance) or [_method_frame(ev, scope, class_frame, instance)]


def _assigned_outside(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What the file that makes the object assigns to `name.attr` afterwards."""
    if instance.site is None:
        return NOTHING
    facts = ev.project.facts(instance.site.path)
    if facts is None:
        return NOTHING
    parts = []
    for scope, store in _outside_stores(ev, facts).get(attr, ()):
        frame = enclosing_frame(ev, facts, scope)
        assert isinstance(store.target, tree.Attribute)
        if any(
            isinstance(value, Instance) and value.site == instance.site for value in ev.values(store.target.value, frame)
        ):
            parts.append(containers.unpack(ev, ev.values(store.value, frame), store.unpack))
    return union(*parts) if parts else NOTHING


def _outside_stores(ev: Evaluator, facts: object) -> dict[str, list[tuple[Scope, object]]]:
    return ev.remembered(("outside-stores", id(facts)), lambda: _collect_stores(facts), {})


def _collect_stores(facts: object) -> dict[str, list[tuple[Scope, object]]]:
    stores: dict[str, list[tuple[Scope, object]]] = {}
    for scope in facts.walk_scopes():  # type: ignore[attr-defined]
        for store in scope.stores:
            target = store.target
            if isinstance(target, tree.Attribute) and not store.augmented:
                if isinstance(target.value, tree.Name) and target.value.id not in ("self", "cls"):
                    stores.setdefault(target.attr, []).append((scope, store))
    return stores


def enclosing_frame(ev: Evaluator, facts: object, scope: Scope) -> Frame:
    """A frame of the scope in which nothing is known of the parameters."""
    if scope.parent is None:
        return ev.module_frame(facts)  # type: ignore[arg-type]
    return Frame(facts, scope, enclosing_frame(ev, facts, scope.parent))  # type: ignore[arg-type]


def _dataclass_field(ev: Evaluator, instance: Instance, attr: str) -> Values | None:
    """The value of a dataclass field, as the generated `__init__` would set it."""
    fields: list[tuple[str, tree.Expr | None, Frame]] = []
    for base in reversed(attributes.mro(ev, instance.cls)):
        if not isinstance(base, ClassValue):
            continue
        if not any(attributes.decorator_name(d) in ("dataclass", "define", "attrs", "s") for d in base.node.decorators):
            continue
        frame = ev.class_frame(base)
        for statement in base.node.body:
            match statement:
                case tree.Assign(targets=(tree.Name(id=name),), value=default, annotation=annotation) if annotation:
                    fields = [field for field in fields if field[0] != name] + [(name, default, frame)]
    for index, (name, default, frame) in enumerate(fields):
        if name != attr:
            continue
        given = instance.arguments
        if given is None:
            return unknown()
        keyword = given.keyword(attr)
        if keyword is not None and keyword[1]:
            return keyword[0]
        if index < len(given.positional):
            return given.positional[index]
        fallback = _default_of_field(ev, default, frame) if default is not None else unknown()
        if given.open_positional or given.open_keywords:
            return union(fallback, unknown())
        return union(fallback, keyword[0]) if keyword is not None else fallback
    return None


def _default_of_field(ev: Evaluator, default: tree.Expr, frame: Frame) -> Values:
    match default:
        case tree.Call(args=args) if any(arg.keyword in ("default", "default_factory", "factory") for arg in args):
            for arg in args:
                if arg.keyword == "default":
                    return ev.values(arg.value, frame)
                if arg.keyword in ("default_factory", "factory"):
                    return ev.call_all(ev.values(arg.value, frame), Arguments(), ev.site(arg, frame))
    return ev.values(default, frame)


def _held_by_external_base(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """A known library class keeps its arguments under their names: `ImageFolder(transform=t).transform` is `t`."""
    from torchrepro_lint.knowledge.callables import external_callable
    from torchrepro_lint.program.calls import external_argument

    for name, arguments in base_arguments(ev, instance):
        known = external_callable(name)
        if known is not None and attr in known.parameters:
            values, _ = external_argument(arguments, known.parameters, attr)
            if values:
                return values
    return NOTHING


def super_of(instance: Instance, cls: ClassValue) -> SuperValue:
    return SuperValue(cls, instance)
