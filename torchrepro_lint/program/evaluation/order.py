"""An order of values that is the same in every run: by what they are and where they come from, never by hash."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    ModuleValue,
    Partial,
    SequenceValue,
    Site,
    SuperValue,
    Value,
    Values,
)

__all__ = ["ordered"]

_MAX_LEVELS = 3
_V = TypeVar("_V", bound=Value)


def ordered(values: Collection[_V]) -> list[_V]:
    """The values in an order that does not depend on hashing."""
    if len(values) < 2:
        return list(values)
    return sorted(values, key=_order_key)


def _order_key(value: Value) -> str:
    """A text by which values sort in a stable way."""
    return _key(value, 0)


def _key(value: Value, level: int) -> str:
    kind = type(value).__name__
    if level > _MAX_LEVELS:
        return kind
    match value:
        case FunctionValue(node=node, frame=frame):
            return f"{kind}:{frame.facts.path}:{node.site:08}:{len(frame.params)}"
        case ClassValue(node=node, frame=frame):
            return f"{kind}:{frame.facts.path}:{node.site:08}"
        case MethodValue(function=function, receiver=receiver):
            return f"{kind}:{_key(function, level + 1)}:{_key(receiver, level + 1)}"
        case Instance(cls=cls, site=site, arguments=arguments):
            return f"{kind}:{_key(cls, level + 1)}:{_place(site)}:{_given(arguments, level + 1)}"
        case ExternalObject(name=name, site=site, arguments=arguments):
            return f"{kind}:{name}:{_place(site)}:{_given(arguments, level + 1)}"
        case Constant(value=constant):
            return (
                f"{kind}:{type(constant).__name__}:{constant!r}"
                if not isinstance(constant, int)
                else f"{kind}:{constant:#x}"
            )
        case External(name=name):
            return f"{kind}:{name}"
        case ModuleValue(path=path):
            return f"{kind}:{path}"
        case MemberOf(receiver=receiver, attr=attr):
            return f"{kind}:{attr}:{_key(receiver, level + 1)}"
        case Partial(function=functions, arguments=arguments):
            return f"{kind}:{_set(functions, level + 1)}:{_given(arguments, level + 1)}"
        case SequenceValue(kind=shape, items=items, element=element):
            inside = "|".join(_set(item, level + 1) for item in items) if items is not None else "..."
            return f"{kind}:{shape}:{inside}:{_set(element, level + 1)}"
        case DictValue(entries=entries, rest=rest):
            inside = "|".join(f"{key!r}={_set(found, level + 1)}" for key, found, _ in entries)
            return f"{kind}:{inside}:{_set(rest, level + 1)}"
        case SuperValue(cls=cls, receiver=receiver):
            return f"{kind}:{_key(cls, level + 1)}:{_key(receiver, level + 1)}"
    return kind


def _place(site: Site | None) -> str:
    return f"{site.path}:{site.number:08}" if site is not None else ""


def _given(arguments: Arguments | None, level: int) -> str:
    if arguments is None or level > _MAX_LEVELS:
        return ""
    positional = ",".join(_set(values, level) for values in arguments.positional)
    return positional + ";" + ",".join(f"{name}={_set(values, level)}" for name, values, _ in arguments.keywords)


def _set(values: Values, level: int) -> str:
    if level > _MAX_LEVELS:
        return str(len(values))
    return "{" + ",".join(sorted(_key(value, level) for value in values)) + "}"
