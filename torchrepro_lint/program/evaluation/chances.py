"""Tests of a number that is drawn from a known interval: neither `random.random() < 0` nor `binomial(1, 0)` ever holds.

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

__all__ = ["decided", "gives_one_number", "has_no_choice", "is_drawn_in_vain", "truth_of_draw"]

_CHOOSE: Final = frozenset({"random.choice", "numpy.random.choice"})
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NONE_GIVEN: Final[Values] = frozenset()


@dataclass(frozen=True, slots=True)
class _Interval:
    low: float
    high: float
    includes_high: bool
    is_whole: bool = False


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


def truth_of_draw(value: ExternalObject) -> bool | None:
    """What a drawn number is as a condition; None where it may be 0 and may be another, or is not known."""
    interval = _interval_of_value(value)
    if interval is None:
        return None
    is_zero = _outcome(interval, "==", 0)
    return None if is_zero is None else not is_zero


def gives_one_number(value: Value) -> bool:
    """Whether what is drawn is one number that is known before: `randint(1)`, `binomial(1, 0.0)`."""
    interval = _interval_of_value(value)
    return interval is not None and interval.low == interval.high


def has_no_choice(name: str, call: tree.Call) -> bool:
    """Whether a function of this name chooses from one thing: `random.choice([1])`."""
    match call.args:
        case (tree.Arg(keyword=None, star="", value=tree.Display(kind="list" | "tuple", items=(only,))),):
            return name in _CHOOSE and not isinstance(only, tree.Starred)
    return False


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
        case "==" | "!=":
            outside = limit < interval.low or above or (interval.is_whole and limit != int(limit))
            is_it = False if outside else True if interval.low == interval.high == limit else None
            return is_it if op == "==" or is_it is None else not is_it
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
    if given.open_positional or given.open_keywords:
        return None
    if given == Arguments():
        return _Interval(0, 1, False) if value.name in drawn_from("unit", "alone") else None
    if value.name in drawn_from("between", "names"):
        low, high = _numbers_given(given, "low", "high")
        return _Interval(low, high, True) if low is not None and high is not None and low <= high else None
    if value.name in drawn_from("successes", "names"):
        trials, chance = _numbers_given(given, "n", "p")
        if trials is None or chance is None:
            return None
        return _Interval(trials if chance >= 1 else 0, 0 if chance <= 0 else trials, True, True)
    return _interval_of_whole_numbers(value.name, given)


def _interval_of_whole_numbers(name: str, given: Arguments) -> _Interval | None:
    excluded = 1 if name in drawn_from("whole", "below") else 0
    if not excluded and name not in drawn_from("whole", "both"):
        return None
    if excluded and len(given.positional) == 1 and not given.keywords:
        low, high = 0.0, _one_number(given.positional[0])
    else:
        given_low, high = _numbers_given(given, "low", "high")
        if given_low is None:
            return None
        low = given_low
    return _Interval(low, high - excluded, True, True) if high is not None and low <= high - excluded else None


def _numbers_given(given: Arguments, *names: str) -> tuple[float | None, float | None]:
    """The two numbers that are all that a call is given, in order or by these names; None for what is not known."""
    if len(given.positional) + len(given.keywords) != len(names):
        return None, None
    by_name = {name: values for name, values, certain in given.keywords if certain}
    parts = [*given.positional, *(by_name.get(name, _NONE_GIVEN) for name in names[len(given.positional) :])]
    return _one_number(parts[0]), _one_number(parts[1])


def _one_number(values: Values) -> float | None:
    return _number(*values) if len(values) == 1 else None


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
