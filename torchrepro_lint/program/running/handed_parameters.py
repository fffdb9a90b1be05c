"""What the calls of a function by its name hand to a parameter: a look before the callers are followed in full.

`callers.contexts` makes the frames of all callers, and of theirs, which takes long where many functions hand a
parameter on to each other. Whether any of them can hold a certain kind of object is often told by what is written in
the calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.classes import is_static
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Constant,
    DictValue,
    FunctionValue,
    Instance,
    Partial,
    SequenceValue,
    Unknown,
    Value,
)
from torchrepro_lint.program.running.callers import (
    frame_without_callers,
    is_called_unseen,
    is_meant,
    uses_without_calls,
)
from torchrepro_lint.program.running.decorator_uses import is_function
from torchrepro_lint.program.running.indirect_calls import any_calls_of
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["may_be_handed"]

#: Past so many parameters that pass on to each other the callers are followed in full.
MAX_PARAMETERS = 200


def may_be_handed(ev: Evaluator, node: tree.Expr, alone: Frame, wanted: Callable[[Value], bool]) -> bool:
    """Whether an expression may be what is wanted, as `callers.may_be` says, and where it is a parameter or an item of
    one, whether a call of the function can hand that over. `alone` is the frame of the scope without callers.
    """
    pending = [(node, alone, False)]
    seen: set[tuple[int, str]] = set()
    while pending:
        expression, frame, of_item = pending.pop()
        values = ev.values(expression, frame)
        if any(_may_hold(value, wanted, of_item) for value in values):
            return True
        if values and UNKNOWN not in values:
            continue
        if isinstance(expression, tree.Subscript):
            pending.append((expression.value, frame, True))
            continue
        parameter = _parameter(expression, frame)
        if parameter is None:
            return True
        scope, name = parameter
        if (id(scope), name) in seen:
            continue
        seen.add((id(scope), name))
        handed = _handed(ev, frame.facts, scope, name)
        if handed is None or len(seen) > MAX_PARAMETERS:
            return True
        pending += [(written, caller, of_item) for written, caller in handed]
    return False


def _may_hold(value: Value, wanted: Callable[[Value], bool], of_item: bool) -> bool:
    """Whether a value may be what is wanted; `of_item`, whether it may hold that."""
    match value:
        case Unknown():
            return False
        case SequenceValue() | DictValue() if of_item:
            items = value.elements() if isinstance(value, SequenceValue) else value.all_values()
            return any(item is UNKNOWN or wanted(item) for item in items)
        case Constant():
            return not of_item and wanted(value)
    return of_item or wanted(value)


def _parameter(expression: tree.Expr, frame: Frame) -> tuple[Scope, str] | None:
    """The function and the name, where an expression is a parameter of a function around it, and nothing else there."""
    if not isinstance(expression, tree.Name):
        return None
    scope = frame.scope.binder(expression.id)
    if scope is None or not isinstance(scope.node, tree.FunctionDef):
        return None
    if any(binding.kind != "param" for binding in scope.bindings[expression.id]):
        return None
    return scope, expression.id


def _handed(ev: Evaluator, facts: ModuleFacts, scope: Scope, name: str) -> list[tuple[tree.Expr, Frame]] | None:
    """What calls hand to a parameter, each with the frame of the caller without its callers; None if that is not told
    by what is written.
    """
    assert isinstance(scope.node, tree.FunctionDef)
    if scope.node.name == "__init__":
        return None
    if is_called_unseen(scope.node.name):
        return []
    if any(uses_without_calls(ev, facts, scope)):
        return None
    found: list[tuple[tree.Expr, Frame]] = []
    parameter = parameter_of(scope, name)
    for one in any_calls_of(ev, facts, scope):
        if is_meant(ev, one, partial(is_function, scope=scope)) is False:
            continue
        caller = frame_without_callers(ev, one.facts, one.scope)
        if not all(_is_plain(scope, value) for value in ev.values(one.call.func, caller)):
            return None
        written = written_argument(one.call, parameter)
        if written is not None:
            found.append((written, caller))
        elif any(arg.star for arg in one.call.args):
            return None
    return found


def _is_plain(scope: Scope, value: Value) -> bool:
    """Whether a call of the value hands over what is written in it, at the places where it is written."""
    if isinstance(value, FunctionValue) and value.node is scope.node:
        assert isinstance(scope.node, tree.FunctionDef)
        return scope.self_name is None or is_static(scope.node)
    return not isinstance(value, (Partial, Instance))
