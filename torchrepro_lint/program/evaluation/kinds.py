"""`isinstance` and `type`: whether a value is of a class, and which class that is, where it is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation.classes import external_bases, has_unknown_base
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    ModuleValue,
    SequenceValue,
    Value,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_instance", "kind_of"]

_DATASET = "torch.utils.data.Dataset"
_ITERABLE = "torch.utils.data.IterableDataset"
_NO_OBJECTS_OF_CLASSES = (Constant, SequenceValue, DictValue, FunctionValue, MethodValue, ModuleValue)
#: Kinds that an object can be of without deriving from them.
_STRUCTURAL = ("collections.abc.", "typing.", "typing_extensions.", "numbers.", "abc.")


def kind_of(value: Value) -> Value | None:
    """What `type(value)` is; None where that is not known."""
    match value:
        case Instance(cls=cls):
            return cls
        case Constant(value=constant):
            return External(f"builtins.{type(constant).__name__}")
        case SequenceValue(kind="list" | "tuple" | "set" as made):
            return External(f"builtins.{made}")
    return None


def is_instance(ev: Evaluator, value: Value, kind: Value) -> bool | None:
    """Whether `value` is of `kind`, a class or a tuple of classes; None where that is not proven."""
    if isinstance(kind, SequenceValue) and kind.items is not None:
        answers = [is_instance(ev, value, option) for options in kind.items for option in options]
        if any(answer is True for answer in answers):
            return True
        return False if answers and all(answer is False for answer in answers) else None
    match value, kind:
        case Instance(), ClassValue():
            if ev.is_instance_of(value, kind):
                return True
            return None if has_unknown_base(ev, value.cls) else False
        case Instance(), External(name=name):
            return _derives(ev, value, name)
        case ExternalObject(name=name), External(name=wanted):
            return _external_is(name, wanted)
        case Constant(value=constant), External(name=name):
            return _builtin_is(tuple(base.__name__ for base in type(constant).__mro__), name)
        case SequenceValue(kind=made), External(name=name) if made in ("list", "tuple", "set"):
            return _builtin_is((made, "object"), name)
        case DictValue(), External(name=name):
            # An OrderedDict is followed as a dict too.
            return _builtin_is(("dict", "object"), name) if name == "builtins.dict" or "Dict" not in name else None
        case FunctionValue() | MethodValue() | ModuleValue(), External(name=name):
            return _builtin_is(("object",), name) if name.startswith(("builtins.", "torch.")) else None
        case _, ClassValue() if isinstance(value, _NO_OBJECTS_OF_CLASSES):
            return None if external_bases(ev, kind) else False
    return None


def _derives(ev: Evaluator, value: Instance, wanted: str) -> bool | None:
    """Whether the class of an object derives from a class outside the project."""
    if wanted == "builtins.object":
        return True
    bases = external_bases(ev, value.cls)
    answers = [_external_is(base, wanted) for base in bases]
    if True in answers:
        return True
    if None in answers or wanted.startswith(_STRUCTURAL) or has_unknown_base(ev, value.cls):
        return None
    return False


def _external_is(name: str, wanted: str) -> bool | None:
    """Whether a class outside the project is, or derives from, another."""
    if name == wanted or wanted == "builtins.object":
        return True
    if name in plain_classes():
        answers = [_external_is(base, wanted) for base in plain_classes()[name]]
        return True in answers if None not in answers and not wanted.startswith(_STRUCTURAL) else None
    if wanted in (_DATASET, _ITERABLE):
        known = external_callable(name)
        if known is not None and known.is_dataset:
            return wanted == _DATASET or known.kind == "iterable-dataset"
    return None


def _builtin_is(names: tuple[str, ...], wanted: str) -> bool | None:
    """Whether an object of a builtin type, `names` being the type and its bases, is of a kind outside the project."""
    if wanted.startswith("builtins."):
        return wanted.removeprefix("builtins.") in names
    return False if wanted.startswith("torch.") else None
