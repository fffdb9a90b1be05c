"""Methods that a class makes by a call instead of a `def`: `draw = staticmethod(np.random.rand)`,
`__getitem__ = partialmethod(fetch, augment=True)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Values,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["bound_descriptor", "getter", "is_descriptor"]

_CLASS_METHOD = "builtins.classmethod"
_PARTIAL_METHOD = "functools.partialmethod"
_PROPERTY = "builtins.property"
_STATIC_METHOD = "builtins.staticmethod"
_KINDS = frozenset({_CLASS_METHOD, _PARTIAL_METHOD, _PROPERTY, _STATIC_METHOD})


def is_descriptor(value: ExternalObject) -> bool:
    """Whether an object in a class is read as what it makes of the function that it was made with."""
    return value.name in _KINDS


def bound_descriptor(ev: Evaluator, made: ExternalObject, receiver: Instance | ClassValue) -> Values:
    """What such an object is, read through `receiver`."""
    given = made.arguments
    if given is None or not given.positional:
        return unknown()
    functions, *rest = given.positional
    if made.name == _STATIC_METHOD:
        return functions
    if made.name == _CLASS_METHOD:
        return _bound(functions, receiver.cls if isinstance(receiver, Instance) else receiver)
    if isinstance(receiver, ClassValue):
        return unknown()
    if made.name == _PROPERTY:
        return ev.call_all(_bound(functions, receiver), Arguments(), None)
    ahead = Arguments(tuple(rest), given.keywords, given.open_positional, given.open_keywords)
    return values_of(Partial(_bound(functions, receiver), ahead))


def getter(values: Values) -> FunctionValue | None:
    """The function that runs where a property is read: `scale = property(_scale)`."""
    for value in values:
        if isinstance(value, ExternalObject) and value.name == _PROPERTY and value.arguments is not None:
            for function in value.arguments.positional[0] if value.arguments.positional else ():
                if isinstance(function, FunctionValue):
                    return function
    return None


def _bound(functions: Values, receiver: Instance | ClassValue) -> Values:
    return values_of(*(MethodValue(one, receiver) if isinstance(one, FunctionValue) else one for one in functions))
