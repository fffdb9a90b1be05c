"""Comparisons of a number that is drawn from a known interval: `random.random() < 0` never holds.

A probability of 0 is how many programs turn an augmentation off for their evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.intervals import drawn_from
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    Constant,
    External,
    ExternalObject,
    Value,
    Values,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["decided", "is_drawn_in_vain"]

_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class _Interval:
    low: float
    high: float
    includes_high: bool


def decided(ev: Evaluator, comparison: tree.Compare, frame: Frame, left: Values, right: Values) -> bool | None:
    """The outcome of a comparison of these values that is the same whatever is drawn; None where nothing is drawn."""
    if not _is_of_two_numbers(comparison):
        return None
    op = comparison.ops[0]
    interval, limits = _interval(ev, comparison.left, left, frame), right
    if interval is None:
        interval, limits, op = _interval(ev, comparison.comparators[0], right, frame), left, _MIRRORED[op]
    if interval is None:
        return None
    numbers = [_number(limit) for limit in limits]
    outcomes = {_outcome(interval, op, number) if number is not None else None for number in numbers}
    return outcomes.pop() if len(outcomes) == 1 else None


def is_drawn_in_vain(ev: Evaluator, comparison: tree.Compare, frame: Frame) -> bool:
    """Whether a comparison draws a number, and its outcome is the same whatever that is."""
    sides = (comparison.left, *comparison.comparators)
    if not _is_of_two_numbers(comparison) or not any(isinstance(side, tree.Call) for side in sides):
        return False
    left, right = ev.values(sides[0], frame), ev.values(sides[1], frame)
    return decided(ev, comparison, frame, left, right) is not None


def _is_of_two_numbers(comparison: tree.Compare) -> bool:
    return len(comparison.ops) == 1 and comparison.ops[0] in _MIRRORED


def _outcome(interval: _Interval, op: str, limit: float) -> bool | None:
    """Whether what is drawn is in the relation `op` to the limit: always, never, or now and then (None)."""
    above = limit > interval.high or (limit == interval.high and not interval.includes_high)
    match op:
        case "<":
            return True if above else False if limit <= interval.low else None
        case "<=":
            return True if limit >= interval.high else False if limit < interval.low else None
        case ">":
            return False if limit >= interval.high else True if limit < interval.low else None
    return False if above else True if limit <= interval.low else None


def _interval(ev: Evaluator, node: tree.Expr, values: Values, frame: Frame) -> _Interval | None:
    """The interval from which the one number is drawn that `node` gives."""
    if _is_drawn_tensor(ev, node, frame):
        return _Interval(0, 1, False)
    found = {_interval_of_value(value) for value in values}
    return found.pop() if len(found) == 1 else None


def _interval_of_value(value: Value) -> _Interval | None:
    if not isinstance(value, ExternalObject) or value.arguments is None:
        return None
    given = value.arguments
    if given == Arguments():
        return _Interval(0, 1, False) if value.name in drawn_from("unit", "alone") else None
    if value.name in drawn_from("between", "names") and len(given.positional) == 2 and not given.keywords:
        low, high = (_number(*bound) if len(bound) == 1 else None for bound in given.positional)
        return _Interval(low, high, True) if low is not None and high is not None and low <= high else None
    return None


def _number(value: Value) -> float | None:
    match value:
        case Constant(value=int() | float() as number):
            return number
    return None


def _is_drawn_tensor(ev: Evaluator, node: tree.Expr, frame: Frame) -> bool:
    """`torch.rand(1)`, or its item. What compares a larger tensor is not a condition."""
    match node:
        case tree.Call(func=tree.Attribute(value=tree.Call() as inner, attr="item"), args=()):
            return _is_drawn_tensor(ev, inner, frame)
        case tree.Call(func=func, args=(tree.Arg(keyword=None, value=tree.Const(value=1)), *_)):
            names = drawn_from("unit", "tensors")
            functions = ev.values(func, frame)
            return bool(functions) and all(isinstance(one, External) and one.name in names for one in functions)
    return False
