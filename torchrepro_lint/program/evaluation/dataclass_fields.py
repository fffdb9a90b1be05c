"""Fields of dataclasses and the like: what the `__init__` would set that nobody wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    DictValue,
    Instance,
    Site,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "DataclassField",
    "as_dict",
    "dataclass_field",
    "field_names",
    "fields_of",
    "post_init_arguments",
    "read_from_outside",
]


class DataclassField(NamedTuple):
    """A field, with the frame of the class that has it."""

    name: str
    annotation: tree.Expr
    default: tree.Expr | None
    frame: Frame
    #: Whether a call may give it by its position.
    is_positional: bool


def dataclass_field(ev: Evaluator, instance: Instance, attr: str) -> Values | None:
    """The value of a dataclass field, as the generated `__init__` would set it."""
    fields = fields_of(ev, instance.cls)
    field = next((field for field in fields if field.name == attr), None)
    if field is None:
        return None
    given = instance.arguments
    if given is None:
        return unknown()
    keyword = given.keyword(attr)
    if keyword is not None and keyword[1]:
        return keyword[0]
    if field.is_positional:
        index = [other.name for other in fields if other.is_positional].index(attr)
        if index < len(given.positional):
            return given.positional[index]
    fallback = _default_of_field(ev, field.default, field.frame) if field.default is not None else unknown()
    if given.open_positional or given.open_keywords or _is_read_from_outside(ev, instance.cls):
        return union(fallback, unknown())
    return union(fallback, keyword[0]) if keyword is not None else fallback


def field_names(ev: Evaluator, cls: ClassValue) -> tuple[str, ...]:
    """The names of the fields of a class, in the order in which a call gives them by position."""
    return tuple(field.name for field in fields_of(ev, cls))


def post_init_arguments(ev: Evaluator, instance: Instance) -> tuple[Values, ...]:
    """What the generated `__init__` hands to `__post_init__`: the fields that are an `InitVar`."""
    handed = (field.name for field in fields_of(ev, instance.cls) if _is_marked(field.annotation, "InitVar"))
    return tuple(dataclass_field(ev, instance, name) or unknown() for name in handed)


def _is_marked(annotation: tree.Expr, mark: str) -> bool:
    """Whether an annotation is this one of the `dataclasses` or `typing` module: `InitVar[int]`, `typing.ClassVar`."""
    match annotation:
        case tree.Subscript(value=kind):
            return _is_marked(kind, mark)
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return name == mark
    return False


def read_from_outside(ev: Evaluator, value: Value, site: Site | None) -> Values:
    """What a library gives that calls something with arguments from the command line or a file. Of a dataclass the
    fields are what the user says, and those that are dataclasses are made in the same way.
    """
    fields = fields_of(ev, value) if isinstance(value, ClassValue) else ()
    # What holds an object of its own class may hold itself.
    anything = Arguments((), (), True, True)
    given = ev.remembered(("read-from-outside", value), lambda: _all_said(ev, fields), anything)
    return ev.call(value, given, site)


def _all_said(ev: Evaluator, fields: tuple[DataclassField, ...]) -> Arguments:
    return Arguments((), tuple((field.name, _said(ev, field), True) for field in fields), True, True)


def _said(ev: Evaluator, field: DataclassField) -> Values:
    """What a field can be where the user says it."""
    kinds = ev.values(field.annotation, field.frame)
    if kinds and all(isinstance(kind, ClassValue) and fields_of(ev, kind) for kind in kinds):
        return union(*(read_from_outside(ev, kind, None) for kind in kinds))
    default = _default_of_field(ev, field.default, field.frame) if field.default is not None else NOTHING
    return union(default, unknown())


def as_dict(ev: Evaluator, value: Value, *, deep: bool) -> Values:
    """The fields of a dataclass's object by their names; `deep`: those that hold such objects are dicts themselves."""
    if not isinstance(value, Instance):
        return unknown()
    # What holds an object of its own class may hold itself.
    return ev.remembered(("as-dict", value, deep), lambda: _as_dict(ev, value, deep=deep), unknown())


def _as_dict(ev: Evaluator, value: Instance, *, deep: bool) -> Values:
    fields = fields_of(ev, value.cls)
    if not fields:
        return unknown()
    entries = []
    for name in (field.name for field in fields):
        held = ev.instances_attribute(values_of(value), name) or unknown()
        if deep:
            held = union(*(as_dict(ev, one, deep=True) if _is_record(ev, one) else values_of(one) for one in held))
        entries.append((name, held, True))
    return values_of(DictValue(tuple(entries), classes.find_method(ev, value.cls, "__post_init__") is not None))


def _is_record(ev: Evaluator, value: Value) -> bool:
    return isinstance(value, Instance) and bool(fields_of(ev, value.cls))


def fields_of(ev: Evaluator, cls: ClassValue) -> tuple[DataclassField, ...]:
    """The fields of a class, those of its bases first; one that a class defines anew stays in its place."""
    return ev.remembered(("fields", cls), lambda: _find_fields(ev, cls), ())


def _find_fields(ev: Evaluator, cls: ClassValue) -> tuple[DataclassField, ...]:
    fields: dict[str, DataclassField] = {}
    writers = known_calls("writes_init") | known_calls("writes_init_from_environment")
    written = not writers.isdisjoint(classes.external_bases(ev, cls))
    decorators = method_words("decorators", "fields")
    for base in reversed(classes.mro(ev, cls)):
        if not isinstance(base, ClassValue):
            continue
        if not written and not any(classes.decorator_name(d) in decorators for d in base.node.decorators):
            continue
        fields.update((field.name, field) for field in _own_fields(base, ev.class_frame(base)))
    return tuple(fields.values())


def _own_fields(cls: ClassValue, frame: Frame) -> Iterator[DataclassField]:
    """The fields that a class itself defines."""
    by_keyword = any(_says(decorator, "kw_only", True) for decorator in cls.node.decorators)
    for statement in cls.node.body:
        match statement:
            case tree.Assign(targets=(tree.Name(id=name),), value=default, annotation=annotation) if annotation:
                if _is_marked(annotation, "KW_ONLY"):
                    by_keyword = True
                elif not _is_marked(annotation, "ClassVar"):
                    is_positional = not by_keyword and not _says(default, "init", False)
                    is_positional = is_positional and not _says(default, "kw_only", True)
                    yield DataclassField(name, annotation, default, frame, is_positional)


def _says(call: tree.Expr | None, option: str, what: bool) -> bool:
    """Whether a call says this of an option: `dataclass(kw_only=True)`, `field(init=False)`."""
    match call:
        case tree.Call(args=args):
            given = (arg.value for arg in args if arg.keyword == option)
            return any(isinstance(value, tree.Const) and value.value is what for value in given)
    return False


def _is_read_from_outside(ev: Evaluator, cls: ClassValue) -> bool:
    return not known_calls("writes_init_from_environment").isdisjoint(classes.external_bases(ev, cls))


def _default_of_field(ev: Evaluator, default: tree.Expr, frame: Frame) -> Values:
    match default:
        case tree.Call(args=args) if any(arg.keyword in ("default", "default_factory", "factory") for arg in args):
            for arg in args:
                if arg.keyword == "default":
                    return ev.values(arg.value, frame)
                if arg.keyword in ("default_factory", "factory"):
                    return ev.call_all(ev.values(arg.value, frame), Arguments(), ev.site(arg, frame))
        case tree.Call(args=args) if any(arg.keyword == "init" and _is_false(arg.value) for arg in args):
            return NOTHING  # `__post_init__` sets it
    return ev.values(default, frame)


def _is_false(node: tree.Expr) -> bool:
    return isinstance(node, tree.Const) and node.value is False
