"""Which conditions are proven, and so which arms of the code run."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import NEVER, Scope
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.program.evaluation.chances import decided, truth_of_draw
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.inner_tests import tests_inside
from torchrepro_lint.program.evaluation.values import (
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
    Value,
    Values,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_OBJECTS = (ClassValue, FunctionValue, MethodValue, ModuleValue, Partial)


def truth(ev: Evaluator, node: tree.Expr, frame: Frame) -> bool | None:
    """Whether the condition `node` is proven true or proven false in the frame."""
    match node:
        case tree.Const(value=value):
            return bool(value)
        case tree.Unary(op="not", operand=operand):
            inner = truth(ev, operand, frame)
            return None if inner is None else not inner
        case tree.Boolean(left=left):
            return _with_right(ev, node, _of_left(ev, left, frame), frame)
        case tree.Compare(left=left, ops=(op,), comparators=(right,)):
            first_values, second_values = ev.values(left, frame), ev.values(right, frame)
            outcome = compare(op, first_values, second_values)
            return outcome if outcome is not None else decided(ev, node, frame, first_values, second_values)
        case tree.Name(id="TYPE_CHECKING") | tree.Attribute(attr="TYPE_CHECKING"):
            return False
    return agreed(truthiness(ev, value) for value in ev.values(node, frame))


def _of_left(ev: Evaluator, left: tree.Expr, frame: Frame) -> bool | None:
    """What the left side of an `and` or `or` is proven to be. In a long one each part is the left side of the next:
    they are evaluated from the first on, and each answer is kept for the next and for who asks for that part alone.
    """
    longer: list[tree.Boolean] = []
    part = left
    while isinstance(part, tree.Boolean):
        longer.append(part)
        part = part.left
    for one in reversed(longer):
        _kept(ev, one, frame)
    return _kept(ev, left, frame)


def _kept(ev: Evaluator, part: tree.Expr, frame: Frame) -> bool | None:
    if not isinstance(part, tree.Boolean):
        return truth(ev, part, frame)
    left = part.left
    return ev.remembered(("truth", part, frame), lambda: _with_right(ev, part, _kept(ev, left, frame), frame), None)


def _with_right(ev: Evaluator, node: tree.Boolean, first: bool | None, frame: Frame) -> bool | None:
    """What an `and` or `or` is proven to be whose left side is proven to be `first`."""
    decisive = node.op == "or"
    if first is decisive:
        return decisive
    second = truth(ev, node.right, frame)
    if second is decisive:
        return decisive
    return None if first is None or second is None else not decisive


def agreed(answers: Any) -> bool | None:
    """The one answer that all give; None where they differ, where one is None, or where there are none."""
    result: bool | None = None
    seen = False
    for answer in answers:
        if answer is None or (seen and answer is not result):
            return None
        result = answer
        seen = True
    return result


def truthiness(ev: Evaluator, value: Value) -> bool | None:
    match value:
        case Constant(value=constant):
            return bool(constant)
        case Instance():
            if ev.attribute(value, "__bool__") or ev.attribute(value, "__len__"):
                return None
            return True
        case SequenceValue(items=items) if items is not None:
            return bool(items)
        case DictValue(entries=entries, open=is_open):
            if any(certain for _, _, certain in entries):
                return True
            return None if is_open or entries else False
        case ClassValue() | FunctionValue() | MethodValue() | ModuleValue() | Partial():
            return True
        case ExternalObject():
            return truth_of_draw(value)
    return None


def is_none(value: Value) -> bool | None:
    """Whether a value is None. What a class makes is not; what a function gives may be."""
    match value:
        case Constant(value=constant):
            return constant is None
        case ClassValue() | FunctionValue() | MethodValue() | ModuleValue() | Partial() | Instance():
            return False
        case SequenceValue() | DictValue() | External():
            return False
        case ExternalObject(name=name):
            last = last_part(name)
            return False if last[:1].isupper() else None
        case MemberOf(never_none=True):
            return False
    return None


def compare(op: str, left: Values, right: Values) -> bool | None:
    """The outcome of a comparison, where every pair of possible values gives the same one."""
    return agreed(_compare_two(op, a, b) for a in left for b in right)


def _compare_two(op: str, left: Value, right: Value) -> bool | None:
    if op in ("is", "is not", "==", "!="):
        same = _same(left, right)
        if same is not None:
            return same if op in ("is", "==") else not same
    if isinstance(left, Constant) and isinstance(right, Constant):
        if op in _ORDERINGS:
            try:
                return bool(_ORDERINGS[op](left.value, right.value))
            except TypeError:
                return None
        if op in ("in", "not in") and isinstance(left.value, str) and isinstance(right.value, str):
            return (left.value in right.value) is (op == "in")
    if op in ("in", "not in"):
        found = _contains(left, right) if isinstance(left, Constant) else _is_one_of(left, right)
        return None if found is None else found is (op == "in")
    return None


def _same(left: Value, right: Value) -> bool | None:
    if isinstance(right, Constant) and right.value is None:
        return is_none(left)
    if isinstance(left, Constant) and left.value is None:
        return is_none(right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return bool(left.value == right.value)
    if isinstance(left, _OBJECTS) and isinstance(right, _OBJECTS):
        return left == right
    if _is_device_and_text(left, right) or _is_device_and_text(right, left):
        return False
    kinds = [one for one in (left, right) if isinstance(one, External) and one.name.startswith("builtins.")]
    if kinds and all(one in kinds or isinstance(one, _OBJECTS) for one in (left, right)):
        return left == right
    return None


def _is_device_and_text(one: Value, other: Value) -> bool:
    """Whether these are a `torch.device` and a text, which are never equal: a device compares with devices alone
    (torch/csrc/Device.cpp 2.13.0, `THPDevice_rc`).
    """
    is_device = isinstance(one, ExternalObject) and one.name == "torch.device"
    return is_device and isinstance(other, Constant) and isinstance(other.value, str)


def _is_one_of(item: Value, container: Value) -> bool | None:
    """`type(low) in (int, float)`."""
    if not isinstance(container, SequenceValue) or container.items is None:
        return None
    answers = [_same(item, value) if len(values) == 1 else None for values in container.items for value in values]
    if any(answers):
        return True
    return False if all(answer is False for answer in answers) else None


def _contains(item: Constant, container: Value) -> bool | None:
    if isinstance(container, DictValue):
        entry = container.get(item.value)
        if entry is not None and entry[1]:
            return True
        return None if container.open or entry is not None else False
    if not isinstance(container, SequenceValue):
        return None
    if any(_may_only_equal(item, values) for values in container.items or ()):
        return True
    return None if any(_may_equal(item, value) for value in container.elements()) else False


def _may_only_equal(item: Constant, values: Values) -> bool:
    return all(isinstance(value, Constant) and value.value == item.value for value in values) and bool(values)


def _may_equal(item: Constant, value: Value) -> bool:
    """Whether an element may be a constant: a list or dict in a list is none, whatever it holds."""
    if isinstance(value, Constant):
        return value.value == item.value
    return not isinstance(value, (ClassValue, DictValue, FunctionValue, ModuleValue, SequenceValue))


MAX_ARMS = 100


# --- arms -----------------------------------------------------------------------------------------------------


def decide(ev: Evaluator, path: ArmPath, frame: Frame) -> bool | None:
    """Whether a statement that is in these arms runs: proven to, proven not to, or None.

    Of more than `MAX_ARMS` arms (each `elif` is one more) the inner ones are left open.
    """
    result: bool | None = True if len(path) <= MAX_ARMS else None
    for branch, arm in path[:MAX_ARMS]:
        verdict = _decide_arm(ev, branch, arm, frame)
        if verdict is False:
            return False
        if verdict is None:
            result = None
    return result


def may_run(ev: Evaluator, site: int, path: ArmPath, frame: Frame) -> bool:
    """Whether what is at `site`, in these arms, may run: that neither an arm of it is proven not to be taken, also of
    the conditional expression that a call is in, nor one that leaves proven to be taken before it (`if workers is None:
    return None`).
    """
    if ev.decide(path, frame) is False:
        return False
    if any(holds(ev, test, frame) is (not wanted) for test, wanted in tests_inside(ev, frame.facts, site)):
        return False
    scope = frame.scope
    own = dict(path)
    exits = ev.of_text(("exits", id(scope)), lambda: tuple(_exits(scope)))
    return not any(
        branch < site
        and branch not in own
        and around == path[: len(around)]
        and ev.decide(((branch, arm),), frame) is True
        for branch, arm, around in exits
    )


def _exits(scope: Scope) -> Iterator[tuple[int, str, ArmPath]]:
    """The arms of an `if` that never fall through, each with the arms in which the `if` is."""
    for branch, arm in scope.ended:
        if isinstance(scope.branches.get(branch), tree.If):
            yield branch, arm, scope.path_at(branch)


def _decide_arm(ev: Evaluator, branch: int, arm: str, frame: Frame) -> bool | None:
    if arm == NEVER:
        return False
    statement = frame.scope.branches.get(branch)
    match statement:
        case tree.If(test=test):
            outcome = holds(ev, test, frame)
            return None if outcome is None else outcome is (arm == "then")
        case tree.Try():
            return True if arm == "try" else None
        case tree.Match(subject=subject, cases=cases):
            return _decide_case(ev, ev.values(subject, frame), cases, arm, frame)
    return None


def holds(ev: Evaluator, test: tree.Expr, frame: Frame) -> bool | None:
    """What a test is proven to be."""
    within = ev.relevant(test, frame)
    return ev.remembered(("truth", test, within), lambda: truth(ev, test, within), None)


def _decide_case(
    ev: Evaluator, subject: Values, cases: tuple[tree.Case, ...], arm: str, frame: Frame
) -> bool | None:  # fmt: skip
    for index, case in enumerate(cases):
        matches: bool | None = None
        if case.literals == ():
            matches = True
        elif case.literals is not None:
            outcomes = [compare("==", subject, ev.values(literal, frame)) for literal in case.literals]
            if any(outcome is True for outcome in outcomes):
                matches = True
            elif all(outcome is False for outcome in outcomes):
                matches = False
        if matches and case.guard is not None:
            matches = truth(ev, case.guard, frame)
        if arm == f"case{index}":
            return matches
        if matches is True:
            return False
        if matches is None:
            return None
    return True if arm == "none" else None
