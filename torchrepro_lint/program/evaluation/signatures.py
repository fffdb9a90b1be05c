"""Which of several callables a call can be of: one that cannot take its arguments raises a TypeError, and runs nothing.

A table of classes, of which a configuration chooses one, is called with the arguments of the one that is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    Constant,
    External,
    FunctionValue,
    MethodValue,
    Value,
    Values,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["callable_with"]


def callable_with(ev: Evaluator, functions: Values, arguments: Arguments) -> Values:
    """Those of `functions` that can take `arguments`; all of them where that is one, or none can."""
    if len(functions) < 2:
        return functions
    able = frozenset(value for value in functions if _can_take(ev, value, arguments))
    return able if any(isinstance(value, _JUDGED) for value in able) else functions


_JUDGED = (ClassValue, FunctionValue, MethodValue)


def _can_take(ev: Evaluator, value: Value, arguments: Arguments) -> bool:
    match value:
        case FunctionValue():
            return _takes(value, arguments, 0)
        case MethodValue(function=function):
            return _takes(function, arguments, 1)
        case ClassValue():
            inits = _inits(ev, value)
            return not inits or any(_takes(init, arguments, 1) for init in inits)
        case Constant(value=None):  # what an import that failed left
            return False
    return True


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
