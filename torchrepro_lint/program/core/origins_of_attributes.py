"""Where the value of an attribute comes from: what the code assigns to it, on this object or in its class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.passing import passing_calls
from torchrepro_lint.program.core.access import attribute, items
from torchrepro_lint.program.core.contents import put_into
from torchrepro_lint.program.core.definitions import Definition
from torchrepro_lint.program.core.origins_of_names import of_definitions, of_global
from torchrepro_lint.program.core.queries import CallSite, Origin, Origins, Query
from torchrepro_lint.program.core.returns import returned_by
from torchrepro_lint.program.evaluation.attributes import external_bases, find_method, has_unknown_base, mro
from torchrepro_lint.program.evaluation.classes import bind_first
from torchrepro_lint.program.evaluation.command_line import defaults_of, is_parsed
from torchrepro_lint.program.evaluation.construction import init_frames
from torchrepro_lint.program.evaluation.dataclass_fields import dataclass_field, fields_of
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame
from torchrepro_lint.program.evaluation.open_attributes import sets_any_attribute
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.outside_stores import outside_stores
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    ModuleValue,
    Site,
    Value,
    Values,
    values_of,
)
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.written_arguments import written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["of_attribute", "of_objects"]


def of_attribute(ev: Evaluator, query: Query, node: tree.Attribute) -> Origins | None:
    """The values that `value.attr` may be."""
    local = _assigned_here(ev, query, node)
    if local is not None and not local.is_open:
        return local
    found = of_objects(ev, query, ev.values(node.value, query.frame), node.attr)
    if found is None and local is None:
        return Origins((Origin(query.inside(node.value, attribute(node.attr)), "part"),))
    options = (*(local.options if local else ()), *(found.options if found else ()))
    return Origins(tuple(dict.fromkeys(options)), found is None or found.is_open)


def _assigned_here(ev: Evaluator, query: Query, node: tree.Attribute) -> Origins | None:
    """What the same function has assigned to the attribute before; None where it has not."""
    scope, frame = query.frame.scope, query.frame
    wanted = dotted_name(node)
    if wanted is None:
        return None
    if isinstance(node.value, tree.Name) and node.value.id == scope.self_name:
        bindings, certain = scope.reaching(f"self.{node.attr}", node.site, lambda path: ev.decide(path, frame))
        return of_definitions(ev, query, [Definition(one, frame) for one in bindings], certain) if bindings else None
    use = dict(scope.path_at(node.site))
    options: list[Origin] = []
    certain = False
    for store in scope.stores:
        is_before = store.statement.site < node.site and not store.augmented
        if is_before and dotted_name(store.target) == wanted and ev.decide(store.path, frame) is not False:
            one = Origin(query.at(store.value, frame, *items(store.unpack)), "binding")
            if all(use.get(branch) == arm for branch, arm in store.path):
                options, certain = [one], True
            else:
                options.append(one)
    return Origins(tuple(options), not certain) if options else None


def of_objects(ev: Evaluator, query: Query, values: Values, attr: str) -> Origins | None:
    """The values that an attribute of some objects, classes or modules may be; None where none of them is known."""
    options: list[Origin] = []
    is_open = is_known = False
    for value in ordered(values):
        found: Origins | None = None
        match value:
            case ModuleValue():
                found = of_global(ev, query, value, attr)
            case Instance():
                found = _of_instance(ev, query, value, attr)
            case ClassValue():
                found = _of_class(ev, query, value, attr)
            case ExternalObject() if is_parsed(value):
                defaults = defaults_of(ev, value, attr)
                found = Origins(tuple(Origin(query.at(one, where), "default") for one, where in defaults), True)
        options += _assigned_outside(ev, query, value, attr)
        is_known = is_known or found is not None or bool(options)
        is_open = is_open or found is None or found.is_open
        options += found.options if found is not None else ()
    return Origins(tuple(dict.fromkeys(options)), is_open or not options) if is_known else None


def _assigned_outside(ev: Evaluator, query: Query, value: Value, attr: str) -> Iterator[Origin]:
    """What the file that makes an object, or has the class, assigns to `name.attr`, also where a function gets it."""
    match value:
        case Instance(site=Site() as site) | ExternalObject(site=Site() as site):
            facts = ev.project.facts(site.path)
        case ClassValue(frame=frame):
            facts = frame.facts
        case _:
            return
    for scope, store in outside_stores(ev, facts).get(attr, ()) if facts is not None else ():
        assert facts is not None and isinstance(store.target, tree.Attribute)
        owner = store.target.value
        is_given = isinstance(owner, tree.Name) and any(one.kind == "param" for one in scope.bindings.get(owner.id, ()))
        for frame in ev.contexts(facts, scope) if is_given else (enclosing_frame(ev, facts, scope),):
            if ev.decide(store.path, frame) is not False and any(
                _is_same(one, value) for one in ev.values(owner, frame)
            ):
                yield Origin(replace(query, calls=()).at(store.value, frame, *items(store.unpack)), "binding")
                break


def _is_same(one: Value, value: Value) -> bool:
    """Whether two values are of one object: made at the same place, or the same class."""
    match one, value:
        case (Instance(site=Site() as first), Instance(site=second)) | (
            ExternalObject(site=Site() as first),
            ExternalObject(site=second),
        ):
            return first == second
        case ClassValue(node=node), ClassValue(node=other):
            return node is other
    return False


def _of_instance(ev: Evaluator, query: Query, instance: Instance, attr: str) -> Origins | None:
    if bind_first(ev, instance, attr)[1]:
        return _of_method(ev, query, instance, attr)
    made = _construction(ev, instance)
    if made is not None and (replaced := _replaced(ev, query, attr, *made)) is not None:
        return replaced
    options: list[Origin] = []
    certain = False
    if dataclass_field(ev, instance, attr) is not None:
        given = _field(ev, query, instance, attr, made)
        options += given.options
        certain = not given.is_open
    inits = init_frames(ev, instance)
    for _, frame in inits:
        if not certain:
            entered = query.entering(CallSite(frame.scope, *made)) if made is not None else query
            found, sure = _reaching_end(ev, entered, attr, frame)
            options += found
            certain = certain or sure
    for scope, frame in _other_methods(ev, instance.cls, {id(frame.scope) for _, frame in inits}):
        if f"self.{attr}" in scope.bindings:
            options += _reaching_end(ev, query, attr, frame)[0]
    if query.access and query.access[0].is_into_container:
        frames = [*(frame for _, frame in inits), *(frame for _, frame in _other_methods(ev, instance.cls, set()))]
        for frame in dict.fromkeys(frames):
            if frame.scope.self_name is not None:
                options += put_into(ev, query, f"{frame.scope.self_name}.{attr}", frame)
    if certain:
        return Origins(tuple(options))
    of_class = _of_class(ev, query, instance.cls, attr) if not _is_field(ev, instance, attr) else None
    options += of_class.options if of_class is not None else ()
    if not options and not attr.startswith("__") and _has_what_is_seen(ev, instance.cls):
        return _of_method(ev, query, instance, "__getattr__")
    return Origins(tuple(options), not options or of_class is None or of_class.is_open) if options else None


def _replaced(ev: Evaluator, query: Query, attr: str, call: tree.Call, caller: Frame) -> Origins | None:
    """What `dataclasses.replace(config, name=value)` gives an object: the value, else what the one before has."""
    functions = ev.values(call.func, caller)
    names = {one.name for one in functions if isinstance(one, External)}
    if not names or not names <= passing_calls("replaces_attributes") or len(names) != len(functions):
        return None
    for arg in call.args:
        if arg.keyword == attr:
            return Origins((Origin(query.at(arg.value, caller), "argument", Site(caller.facts.path, call.site)),))
    before = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    is_spread = any(arg.star == "**" for arg in call.args)
    return Origins(tuple(Origin(query.at(one, caller, attribute(attr)), "part") for one in before[:1]), is_spread)


def _has_what_is_seen(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether objects have the attributes that the text of the project assigns, and none from a base outside it, nor
    by names that the text does not show.
    """
    is_inherited = has_unknown_base(ev, cls) or set(external_bases(ev, cls)) - {"builtins.object"}
    return not is_inherited and not sets_any_attribute(ev, cls)


def _is_field(ev: Evaluator, instance: Instance, attr: str) -> bool:
    return dataclass_field(ev, instance, attr) is not None


def _of_method(ev: Evaluator, query: Query, instance: Instance, name: str) -> Origins | None:
    """What a method gives that Python runs where an attribute is read: that of a property, `__getattr__`."""
    getter = find_method(ev, instance.cls, name)
    plain = [one for one in getter[1] if isinstance(one, FunctionValue)] if getter is not None else []
    options = tuple(returned_by(ev, query, values_of(*(MethodValue(one, instance) for one in plain))))
    return Origins(options) if options else None


def _reaching_end(ev: Evaluator, query: Query, attr: str, frame: Frame) -> tuple[list[Origin], bool]:
    """What a method has assigned to an attribute of its object when it has run, and whether it surely has."""
    bindings, certain = frame.scope.reaching(f"self.{attr}", END, lambda path: ev.decide(path, frame))
    found = of_definitions(ev, query, [Definition(one, frame) for one in bindings], certain) if bindings else None
    return (list(found.options), certain and not found.is_open) if found is not None else ([], False)


def _other_methods(ev: Evaluator, cls: ClassValue, without: set[int]) -> Iterator[tuple[Scope, Frame]]:
    """The methods of a class and its bases, but for some and for other `__init__`s, each with a frame."""
    for base in mro(ev, cls):
        if isinstance(base, ClassValue):
            body = ev.class_frame(base)
            for scope in body.scope.children:
                if isinstance(scope.node, tree.FunctionDef) and scope.name != "__init__" and id(scope) not in without:
                    yield scope, frame_without_callers(ev, body.facts, scope)


def _construction(ev: Evaluator, instance: Instance) -> tuple[tree.Call, Frame] | None:
    """The call that makes an object, and a frame in which it does."""
    if instance.site is None:
        return None
    place = place_of(ev, instance.site)
    call = place.scope.call_at(instance.site.number) if place is not None else None
    return (call, frame_without_callers(ev, place.facts, place.scope)) if place is not None and call else None


def _field(ev: Evaluator, query: Query, instance: Instance, attr: str, made: tuple[tree.Call, Frame] | None) -> Origins:
    """What a field of a dataclass or a named tuple is: what the construction gives it, else its default."""
    fields = fields_of(ev, instance.cls)
    names = [field.name for field in fields if field.is_positional]
    if made is not None:
        call, caller = made
        written = written_argument(call, Parameter(attr, names.index(attr) if attr in names else None))
        if written is not None:
            site = Site(caller.facts.path, call.site)
            return Origins((Origin(query.at(written, caller), "argument", site),))
    field = next((field for field in fields if field.name == attr), None)
    is_spread = made is None or any(arg.star for arg in made[0].args)
    if field is None or field.default is None:
        return Origins((), True)
    options = tuple(_of_default(ev, query, field.default, field.frame))
    if not is_spread:  # it is what this construction leaves out
        options = tuple(one._replace(how="argument") for one in options)
    return Origins(options, is_spread or not options)


def _of_default(ev: Evaluator, query: Query, default: tree.Expr, frame: Frame) -> Iterator[Origin]:
    """What the default of a field gives: the value itself, that of `field(default=...)`, what its factory returns."""
    match default:
        case tree.Call(args=args) if any(arg.keyword in ("default", "default_factory") for arg in args):
            for arg in args:
                if arg.keyword == "default":
                    yield Origin(query.at(arg.value, frame), "default")
                elif arg.keyword == "default_factory":
                    inside = query.at(arg.value, frame)
                    returned = tuple(returned_by(ev, inside, ev.values(arg.value, frame)))
                    yield from returned or (Origin(query.at(_as_call(ev, arg.value), frame), "default"),)
        case _:
            yield Origin(query.at(default, frame), "default")


def _as_call(ev: Evaluator, func: tree.Expr) -> tree.Call:
    """The call of a factory that no code writes, the same one each time it is asked for."""
    made = tree.Call(func.site, func, ())
    return ev.of_text(("as-call", id(func)), lambda: made)


def _of_class(ev: Evaluator, query: Query, cls: ClassValue, attr: str) -> Origins | None:
    """What a class has under a name: what its body, or that of its first base with the name, binds."""
    for base in mro(ev, cls):
        if isinstance(base, ClassValue):
            body = ev.class_frame(base)
            bindings, certain = body.scope.reaching(attr, END, lambda path, at=body: ev.decide(path, at))  # type: ignore[misc]
            if bindings:
                return of_definitions(ev, query, [Definition(one, body) for one in bindings], certain)
    return None
