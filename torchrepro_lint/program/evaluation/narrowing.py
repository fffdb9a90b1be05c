"""What a test says of the name it is about: in the arm of `if isinstance(dataset, IterableDataset)` it is one.

A test of a name holds for its value as long as the name is not bound again, so what contradicts it is left out. What
may or may not pass the test stays, unless the test itself says what it is: in the arm of `if mode == "val"`, a mode of
which nothing is known is "val", and in that of `if not train` the switch `train` is False. Below
`assert workers == 0` there are no workers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import last_site
from torchrepro_lint.facts.scopes import END, Binding, Scope
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.program.evaluation.conditions import compare, is_none, truthiness
from torchrepro_lint.program.evaluation.told_constants import constants_told, instead_of_unknown, is_open
from torchrepro_lint.program.evaluation.values import Constant, Value, Values, unknown

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame

__all__ = ["as_tested", "at_use", "kinds_asked", "parts_of_test", "past_rebinding", "where_it_is_set"]

_NONE = Constant(None)
#: How many tests before a use are heeded, the last ones: of a name that is tested at every turn.
_MAX_TESTS: Final = 60


def at_use(ev: Evaluator, name: str, values: Values, site: int, frame: Frame) -> Values:
    """What of the values `name` can have at a use, after the tests that the way to it has passed.

    These are the tests in whose arms the use is, those before it of which one arm leaves, and what is asserted.
    """
    scope = frame.scope
    if site == END or not (scope.branches or scope.asserted) or not (len(values) > 1 or is_open(values)):
        return values
    values = _as_asserted(ev, name, values, site, frame) if scope.asserted else values
    tests: tuple[tuple[tree.If, int], ...] = ev.of_text(("tests", id(scope), name), lambda: _tests_of(scope, name))
    if not tests or not (len(values) > 1 or is_open(values)):
        return values
    use_path = scope.path_at(site)
    use_arms = dict(use_path)
    before = bisect_left(tests, site, key=lambda test: test[1])  # not those in which the use is itself
    for statement, _ in tests[max(before - _MAX_TESTS, 0) : before]:
        arm = use_arms.get(statement.site) or _only_way_past(scope, statement, use_path)
        if arm is None or _bound_since(scope, name, statement, use_path, site):
            continue
        values = _passing(ev, name, values, statement.test, arm == "then", frame)
        if is_open(values):
            values = _told(scope, name, values, statement.test, arm == "then")
    return values


def _as_asserted(ev: Evaluator, name: str, values: Values, site: int, frame: Frame) -> Values:
    """What of the values is left after what is asserted of the name on every way to a use: `assert workers == 0`."""
    scope = frame.scope
    about: tuple[tuple[tree.Assert, ArmPath], ...] = ev.of_text(
        ("asserted", id(scope), name),
        lambda: tuple(one for one in scope.asserted if _is_about(one[0].test, name, scope)),
    )
    if not about:
        return values
    use_path = scope.path_at(site)
    for statement, path in about[-_MAX_TESTS:]:
        if statement.site >= site or path != use_path[: len(path)]:
            continue
        if not _bound_since(scope, name, statement, use_path, site):
            values = _passing(ev, name, values, statement.test, True, frame)
            values = _told(scope, name, values, statement.test, True) if is_open(values) else values
    return values


def as_tested(ev: Evaluator, frame: Frame, site: int) -> Frame:
    """The frame with what the tests on the way to a place say of the parameters that are not bound again: there, what
    was made of `train` above `if train:` was made of True.
    """
    scope = frame.scope
    told: dict[str, Values] = {}
    for name, bindings in scope.bindings.items() if scope.branches or scope.asserted else ():
        if len(bindings) == 1 and isinstance(bindings[0].node, tree.Param):
            known = frame.param(name) or unknown()
            values = at_use(ev, name, known, site, frame)
            if values and values != known:
                told[name] = values
    if not told:
        return frame
    params = [(name, told.pop(name, values)) for name, values in frame.params]
    return ev.shared(type(frame)(frame.facts, scope, frame.parent, (*params, *told.items())))


def where_it_is_set(ev: Evaluator, node: tree.Attribute, values: Values, frame: Frame) -> Values:
    """The values of `self.x` at a use, without None where a test on the way to it leaves that out.

    Nothing else is taken from such a test: a method that is called after it may have given `self.x` another value.
    """
    if _NONE in values and _NONE not in at_use(ev, f"self.{node.attr}", values, node.site, frame):
        return values - {_NONE}
    return values


def _tests_of(scope: Scope, name: str) -> tuple[tuple[tree.If, int], ...]:
    """The statements whose tests are about a name, in their order, each with the place where its test ends."""
    tests = [one for one in scope.branches.values() if isinstance(one, tree.If) and _is_about(one.test, name, scope)]
    return tuple((one, last_site(one.test)) for one in sorted(tests, key=lambda one: one.site))


def _only_way_past(scope: Scope, statement: tree.If, use_path: ArmPath) -> str | None:
    """The arm through which code goes that comes after the statement, where the other one leaves."""
    if any(step not in use_path and not _is_only_way(scope, *step) for step in scope.path_at(statement.site)):
        return None
    return next((arm for arm in ("then", "else") if _is_only_way(scope, statement.site, arm)), None)


def _is_only_way(scope: Scope, branch: int, arm: str) -> bool:
    others = [other for other in scope.arms.get(branch, ()) if other != arm]
    return bool(others) and all((branch, other) in scope.ended for other in others)


def _bound_since(scope: Scope, name: str, statement: tree.If | tree.Assert, use_path: ArmPath, end: int) -> bool:
    """Whether a name may be bound again between a test of it and a use: before the use, in a loop around the use that
    begins after the test, or by another function, `global mode`, at any time.
    """
    return any(
        statement.site < binding.order < end
        or binding.scope is not None
        or any(branch in scope.loops and branch > statement.site for branch, _ in _shared(binding.path, use_path))
        for binding in scope.bindings.get(name, ())
    )


def _shared(path: ArmPath, other: ArmPath) -> ArmPath:
    return tuple(one for one, also in zip(path, other, strict=False) if one == also)


def past_rebinding(ev: Evaluator, name: str, values: Values, later: Binding, frame: Frame) -> Values:
    """What of earlier values is left after an arm that binds the name anew: `if x is None: x = default`."""
    if len(values) < 2 or not later.path:
        return values
    branch, arm = later.path[-1]
    statement = frame.scope.branches.get(branch)
    if isinstance(statement, tree.If) and _is_about(statement.test, name, frame.scope):
        return _passing(ev, name, values, statement.test, arm != "then", frame)
    return values


def _passing(ev: Evaluator, name: str, values: Values, test: tree.Expr, holds: bool, frame: Frame) -> Values:
    for part, wanted in parts_of_test(test, holds):
        values = frozenset(value for value in values if _outcome(ev, name, value, part, frame) is not (not wanted))
    return values


def _told(scope: Scope, name: str, values: Values, test: tree.Expr, holds: bool) -> Values:
    """The values after a test with this outcome that says what a name is of which nothing else is known."""
    for part, wanted in parts_of_test(test, holds):
        told = constants_told(scope, name, part, wanted) if _name_tested(part, scope) == name else []
        values = instead_of_unknown(values, told) if told else values
    return values


def parts_of_test(test: tree.Expr, holds: bool) -> Iterator[tuple[tree.Expr, bool]]:
    """The tests that surely have the outcome given, where the whole has: all parts of an `and` that holds. They begin
    with what they are about: `"val" == mode` is given as `mode == "val"`.
    """
    match test:
        case tree.Unary(op="not", operand=operand):
            yield from parts_of_test(operand, not holds)
        case tree.Boolean(op=op, left=left, right=right):
            if (op == "and") is holds:
                yield from parts_of_test(left, holds)
                yield from parts_of_test(right, holds)
        case tree.Compare(
            left=tree.Const() as said, ops=("==" | "!=",), comparators=(tree.Name() | tree.Attribute() as subject,)
        ):
            yield replace(test, left=subject, comparators=(said,)), holds
        case _:
            yield test, holds


def _outcome(ev: Evaluator, name: str, value: Value, test: tree.Expr, frame: Frame) -> bool | None:
    """Whether a test of the name holds where it is `value`; None where that is not known, or it is no such test."""
    if _name_tested(test, frame.scope) != name:
        return None
    match test:
        case tree.Name() | tree.Attribute():
            return truthiness(ev, value)
        case tree.Compare(ops=(op,), comparators=(tree.Const(value=None),)):
            answer = is_none(value)
            return answer if answer is None or op in ("is", "==") else not answer
        case tree.Compare(ops=(op,), comparators=(tree.Const() | tree.Display() as other,)):
            return compare(op, frozenset((value,)), ev.values(other, frame))
        case tree.Call(args=(_, kind)):
            answers = {ev.is_instance(value, one) for one in ev.values(kind.value, frame)}
            return answers.pop() if len(answers) == 1 else None
    return None


def kinds_asked(scope: Scope) -> dict[str, list[tree.Expr]]:
    """The kinds of which the tests of a scope ask whether a name's value is one, by the name."""
    found: dict[str, list[tree.Expr]] = {}
    for statement in scope.branches.values():
        if isinstance(statement, tree.If):
            for part, _ in (*parts_of_test(statement.test, True), *parts_of_test(statement.test, False)):
                match part:
                    case tree.Call(func=tree.Name(id="isinstance"), args=(tree.Arg(value=tree.Name(id=name)), kind)):
                        found.setdefault(name, []).append(kind.value)
    return found


def _is_about(test: tree.Expr, name: str, scope: Scope) -> bool:
    """Whether a test has a part of a form that is understood here, and is about the name."""
    return any(
        _name_tested(part, scope) == name for holds in (True, False) for part, _ in parts_of_test(test, holds)
    )  # fmt: skip


def _name_tested(test: tree.Expr, scope: Scope) -> str | None:
    """What a test is about: a name, or `self.x` where `self` is the first parameter of the method."""
    match test:
        case tree.Name(id=name):
            return name
        case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == scope.self_name:
            return f"self.{attr}"
        case tree.Compare(left=tree.Name() | tree.Attribute() as subject):
            return _name_tested(subject, scope)
        case tree.Call(
            func=tree.Name(id="isinstance"), args=(tree.Arg(value=tree.Name() | tree.Attribute() as subject), *_)
        ):
            return _name_tested(subject, scope)
    return None
