"""Members of enumerations. A member counts as what it is defined as: `Kind.CROPS`, `Kind["CROPS"]`, `Kind("crops")`,
and their `value`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    Constant,
    Partial,
    Value,
    Values,
    unknown,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["has_member_value", "member_called", "member_named"]


def _is_enumeration(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a class of the project is an enumeration."""
    return bool(cls.node.bases) and not known_calls("enumerations").isdisjoint(external_bases(ev, cls))


def member_named(ev: Evaluator, cls: ClassValue, index: Values) -> Values:
    """What `Kind[name]` is; nothing where the class is no enumeration."""
    if not _is_enumeration(ev, cls):
        return NOTHING
    name = ev.one_constant(index)
    return ev.attribute(cls, name.value) if name is not None and isinstance(name.value, str) else unknown()


def member_called(ev: Evaluator, cls: ClassValue, arguments: Arguments) -> Values:
    """What `Kind("crops")` is; nothing where no value is known, or where a member is an object with methods."""
    if any(isinstance(statement, tree.FunctionDef) for statement in cls.node.body) or not _is_enumeration(ev, cls):
        return NOTHING
    only = arguments.positional[0] if len(arguments.positional) == 1 else NOTHING
    return only if ev.one_constant(only) is not None else NOTHING


def has_member_value(value: Value, attr: str) -> bool:
    """Whether the attribute is the `value` of a member: what has none itself is a member where it is asked for one."""
    if attr != "value":
        return False
    is_plain = isinstance(value, Constant) and isinstance(value.value, (str, int))
    return is_plain or isinstance(value, (ClassValue, Partial))
