"""What `value.attr` is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation import command_line, instances, names
from torchrepro_lint.program.evaluation.arguments import external_argument
from torchrepro_lint.program.evaluation.class_changes import with_class_changes
from torchrepro_lint.program.evaluation.class_stores import assigned_to_class
from torchrepro_lint.program.evaluation.classes import (
    after,
    class_attribute,
    decorator_name,
    external_bases,
    find_method,
    has_unknown_base,
    look_up_along,
    method_frame,
    mro,
)
from torchrepro_lint.program.evaluation.enumerations import has_member_value
from torchrepro_lint.program.evaluation.module_containers import named_module
from torchrepro_lint.program.evaluation.named_by_text import namespace, outside_namespace
from torchrepro_lint.program.evaluation.records import field, is_record
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
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
    SuperValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "attribute",
    "class_attribute",
    "decorator_name",
    "external_bases",
    "find_method",
    "has_unknown_base",
    "method_frame",
    "mro",
]


def attribute(ev: Evaluator, value: Value, attr: str) -> Values:
    """What `value.attr` can be; nothing where it is proven not to exist."""
    match value:
        case ModuleValue() if attr == "__dict__":
            return namespace(ev, value)
        case ModuleValue():
            return names.module_attribute(ev, value, attr)
        case External() if attr == "__dict__":
            return outside_namespace(ev, value)
        case External(name=name):
            return values_of(External(canonical(f"{name}.{attr}")))
        case ClassValue():
            return _of_class(ev, value, attr)
        case Instance():
            return instances.instance_attribute(ev, value, attr)
        case SuperValue(cls=cls, receiver=receiver):
            start = receiver.cls if isinstance(receiver, Instance) else receiver
            return look_up_along(ev, after(mro(ev, start), cls), attr, receiver)
        case ExternalObject() if command_line.is_parsed(value):
            known = command_line.choices_of(ev, value, attr) or command_line.handlers_of(ev, value, attr)
            return known or values_of(MemberOf(value, attr, command_line.is_never_none(ev, value, attr)))
        case ExternalObject() if held := _held_dataset(value, attr):
            return held
        case ExternalObject() if module := named_module(value, attr):
            return union(module, values_of(MemberOf(value, attr)))
        case ExternalObject() if attr == "p" and (rate := _rate(value)):
            return union(rate, values_of(MemberOf(value, attr)))
        case ExternalObject() if is_record(value):
            return field(ev, value, attr) or values_of(MemberOf(value, attr))
        case Constant() | Partial() if has_member_value(value, attr):
            return values_of(value)
        case ExternalObject() | SequenceValue() | DictValue() | Constant() | MemberOf():
            return values_of(MemberOf(value, attr))
        case FunctionValue() | MethodValue():
            return _of_function(value, attr)
    return unknown()


def _held_dataset(value: ExternalObject, attr: str) -> Values:
    """The data set that a part of it, or another one around it, holds: `Subset(dataset, indices).dataset`."""
    known = external_callable(value.name)
    if known is None or not known.is_dataset or value.arguments is None:
        return NOTHING
    if not any(run.parameter == attr and run.protocol == "dataset" for run in known.runs):
        return NOTHING
    return external_argument(value.arguments, known.parameters, attr)[0]


def _rate(value: ExternalObject) -> Values:
    """The probability with which a layer drops, as it is made: `nn.Dropout(rate).p`."""
    if value.name not in known_calls("dropout_layers") or value.arguments is None:
        return NOTHING
    given, may_be_left_out = external_argument(value.arguments, ("p", "inplace"), "p")
    return union(given, values_of(Constant(0.5))) if may_be_left_out else given


def _of_function(value: FunctionValue | MethodValue, attr: str) -> Values:
    function = value if isinstance(value, FunctionValue) else value.function
    if attr == "__name__":
        return values_of(Constant(function.name))
    return values_of(value) if function_words("runs_itself").fullmatch(attr) else unknown()


def _of_class(ev: Evaluator, cls: ClassValue, attr: str) -> Values:
    if attr == "__name__":
        return values_of(Constant(cls.name))
    if attr == "__subclasses__":
        return values_of(MemberOf(cls, attr))
    found = with_class_changes(ev, cls, attr, look_up_along(ev, mro(ev, cls), attr, cls))
    if not found and cls.node.decorators and function_words("runs_itself").fullmatch(attr):
        return values_of(cls)
    if has_member_value(cls, attr) and find_method(ev, cls, attr) is None:
        return values_of(cls)
    return union(found, assigned_to_class(ev, cls, attr)) if found else found
