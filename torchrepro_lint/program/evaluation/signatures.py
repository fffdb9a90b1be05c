"""Which of several callables a call can be of: one that cannot take its arguments raises a TypeError, and runs nothing.

A table of classes, of which a configuration chooses one, is called with the arguments of the one that is meant; and so
is the network that was chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_packages
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.class_stores import assigned_to_class
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    UNKNOWN,
    Arguments,
    ClassValue,
    Constant,
    External,
    FunctionValue,
    Instance,
    MethodValue,
    Value,
    Values,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["callable_with", "can_take", "may_be_made"]


def callable_with(ev: Evaluator, functions: Values, arguments: Arguments) -> Values:
    """Those of `functions` that can take `arguments`; all of them where none can, but for one class whose constructor
    is known: making its object raises a TypeError.
    """
    if len(functions) < 2:
        (function,) = functions or (None,)
        is_made = not isinstance(function, ClassValue) or _may_be_made(ev, function, arguments)
        return functions if is_made else NOTHING
    able = frozenset(value for value in functions if can_take(ev, value, arguments))
    if UNKNOWN in functions and arguments.open_keywords and arguments.keywords:
        fitting = frozenset(value for value in able if not _is_for_others(ev, value, arguments))
        able = fitting if any(isinstance(value, _JUDGED) for value in fitting) else able
    return able if any(isinstance(value, _JUDGED) for value in able) else functions


_JUDGED = (ClassValue, FunctionValue, Instance, MethodValue)
#: What a call of an object runs: its own method, or that of a network.
_CALLED = ("__call__", "forward")


def can_take(ev: Evaluator, value: Value, arguments: Arguments) -> bool:
    """Whether a call of `value` with `arguments` may be bound to parameters; true where these are not known."""
    if value == Constant(None):  # what an import that failed left
        return False
    signatures = _signatures(ev, value)
    return not signatures or any(_takes(function, arguments, receivers) for function, receivers in signatures)


def may_be_made(ev: Evaluator, instance: Instance) -> bool:
    """Whether Python can make an object as the code asks for it: not where its class cannot take the arguments, so that
    a TypeError ends the program there, and what the object is given to never runs.
    """
    return instance.arguments is None or _may_be_made(ev, instance.cls, instance.arguments)


def _may_be_made(ev: Evaluator, cls: ClassValue, arguments: Arguments) -> bool:
    """Whether an object of the class may be made with `arguments`: yes, unless all that makes it is known."""
    order = classes.mro(ev, cls)
    if not all(_is_made_plainly(ev, base) for base in order) or assigned_to_class(ev, cls, "__init__"):
        return True
    if classes.find_method(ev, cls, "__init__") is None and all(
        isinstance(base, ClassValue) or base.name in plain_classes() for base in order
    ):
        return not any((arguments.positional, any(certain for _, _, certain in arguments.keywords)))
    return can_take(ev, cls, arguments)


def _is_made_plainly(ev: Evaluator, base: ClassValue | External) -> bool:
    """Whether a class changes nothing in how Python makes the objects of those that derive from it."""
    if isinstance(base, External):
        return base.name in plain_classes() or base.name.partition(".")[0] in known_packages("makes_plainly")
    parts = base.node.bases
    if base.node.decorators or any(arg.keyword is not None or arg.star for arg in parts):
        return False
    found = (ev.values(arg.value, base.frame) for arg in parts)
    return all(len(values) == 1 and all(isinstance(v, (ClassValue, External)) for v in values) for values in found)


def _is_for_others(ev: Evaluator, value: Value, arguments: Arguments) -> bool:
    """Whether a callable, one of those that an unknown name may mean, is not what a call is written for: it has none of
    the keywords that are written there, but for its own `**`, and needs what only an unknown `**` could bring.
    """
    signatures = _signatures(ev, value)
    return bool(signatures) and all(_lacks(function, arguments, receivers) for function, receivers in signatures)


def _lacks(function: FunctionValue, arguments: Arguments, receivers: int) -> bool:
    written = {name for name, _, _ in arguments.keywords}
    if isinstance(function.node, tree.FunctionDef) and function.node.decorators:
        return False
    places = [param for param in function.node.params if param.kind == "positional"]
    places = places[receivers + len(arguments.positional) :]
    named = [*places, *(param for param in function.node.params if param.kind == "keyword")]
    needs = not arguments.open_positional and any(param.default is None for param in named)
    return needs and written.isdisjoint(param.name for param in named)


def _signatures(ev: Evaluator, value: Value) -> list[tuple[FunctionValue, int]]:
    """The functions that a call may run first, and how many arguments Python adds; none where that is not known."""
    match value:
        case FunctionValue():
            return [(value, 0)]
        case MethodValue(function=function):
            return [(function, 1)]
        case ClassValue():
            return [(init, 1) for init in _inits(ev, value)]
        case Instance():
            called = (ev.attribute(value, name) for name in _CALLED)
            methods = next((found for found in called if any(isinstance(one, MethodValue) for one in found)), NOTHING)
            known = [one.function for one in ordered(methods) if isinstance(one, MethodValue)]
            return [(function, 1) for function in known] if len(known) == len(methods) else []
    return []


def _inits(ev: Evaluator, cls: ClassValue) -> list[FunctionValue]:
    """The `__init__` that takes the arguments of the class, in each form that it may have; none where that is not
    known: it is of a library or decorated, or `__new__` or a metaclass is called before it.
    """
    if classes.find_method(ev, cls, "__new__") is not None or classes.has_unknown_base(ev, cls):
        return []
    for base in classes.mro(ev, cls):
        if isinstance(base, External):
            if base.name in plain_classes():
                continue
            return []
        if base.node.decorators or any(arg.keyword is not None for arg in base.node.bases):
            return []
        if found := classes.class_attribute(ev, base, "__init__"):
            functions = [value for value in found if isinstance(value, FunctionValue)]
            return functions if len(functions) == len(found) else []
    return []


def _takes(function: FunctionValue, arguments: Arguments, receivers: int) -> bool:
    """Whether a call with `arguments`, behind `receivers` that Python adds, can be bound to the parameters."""
    node = function.node
    if isinstance(node, tree.FunctionDef) and node.decorators:
        return True
    kinds = {param.kind for param in node.params}
    places = [param for param in node.params if param.kind == "positional"]
    count = receivers + len(arguments.positional)
    if count > len(places) and "star" not in kinds:
        return False
    given = {name for name, _, _ in arguments.keywords}
    if "double-star" not in kinds:
        by_name = {param.name for param in (*places[count:], *(p for p in node.params if p.kind == "keyword"))}
        if any(certain and name not in by_name for name, _, certain in arguments.keywords):
            return False
    if arguments.open_keywords:
        return True
    behind = [] if arguments.open_positional else places[count:]
    needed = [*behind, *(param for param in node.params if param.kind == "keyword")]
    return all(param.default is not None or param.name in given for param in needed)
