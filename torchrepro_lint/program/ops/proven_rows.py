"""For which of the rows of knowledge/ops.tsv a call of an operation is proven.

A row counts where the argument list proves its conditions; what depends on a shape, a kernel or a layout that the text
does not show counts as not proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import UNKNOWN, Condition
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.program.evaluation.conditions import agreed, is_none
from torchrepro_lint.program.evaluation.values import Constant, SequenceValue, Value, Values
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ops.input_forms import FORMS, has_form
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.callers import contexts, frame_without_callers
from torchrepro_lint.program.running.classes_around import class_of_method

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Flag", "can_be_proven", "rows_possible", "rows_proven", "runs_somewhere"]

#: The state of torch's determinism flag.
Flag = Literal["off", "warn", "raise"]


def can_be_proven(row: OpRow, *, any_backend: bool) -> bool:
    """Whether a program can show that all conditions of a row hold: of some, such as the number of dimensions, none
    can. `any_backend` as in `rows_proven`.
    """
    return all(
        condition.decided_by_arguments
        or condition.parameter == "context"
        or _is_about_a_tensor(condition)
        or condition.test in FORMS
        or (any_backend and condition.parameter == "backend")
        for condition in row.when
    )


def rows_possible(
    ev: Evaluator, operation: Operation, rows: Sequence[OpRow], *, flag: Flag, any_backend: bool
) -> list[OpRow]:
    """The rows that the call itself does not rule out. To prove them takes longer."""
    return [row for row in rows if _all_hold(ev, operation, row, flag, any_backend, forms=False) is not False]


def rows_proven(
    ev: Evaluator, operation: Operation, rows: Sequence[OpRow], *, flag: Flag, any_backend: bool
) -> list[OpRow]:
    """The rows whose conditions are proven for a call in eager mode, with the determinism flag as `flag` says. With
    `any_backend`, every kernel that torch may choose counts as chosen.

    An argument that the scope alone does not show is looked up in the frames in which callers run it.
    """
    rows = rows_possible(ev, operation, rows, flag=flag, any_backend=any_backend)
    rows = [row for row in rows if not (row.phase == "backward" and _needs_no_grad(operation, row))]
    verdicts = [_all_hold(ev, operation, row, flag, any_backend) for row in rows]
    proven = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict]
    if proven or None not in verdicts:
        return proven
    open_rows = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict is None]
    for frame in contexts(ev, operation.frame.facts, operation.frame.scope) if open_rows else ():
        there = operation.at(frame)
        proven = [row for row in open_rows if _all_hold(ev, there, row, flag, any_backend) is True]
        if proven:
            return proven
    return []


def runs_somewhere(ev: Evaluator, operation: Operation) -> bool:
    """Whether some visible caller runs the operation, so that no guard rules it out for all of them."""
    frames = contexts(ev, operation.frame.facts, operation.frame.scope)
    return any(ev.may_run(operation.call.site, operation.path, frame) for frame in frames)


def _all_hold(
    ev: Evaluator, operation: Operation, row: OpRow, flag: Flag, any_backend: bool, *, forms: bool = True
) -> bool | None:
    """Whether all conditions of a row hold; None where one is not proven and none is ruled out. Without `forms` nobody
    asks what form the input has.
    """
    is_proven = True
    for condition in sorted(row.when, key=_is_about_a_tensor):
        if not (any_backend and condition.parameter == "backend"):
            if condition.test in FORMS:
                answer = has_form(ev, operation, condition) if forms and is_proven else None
            else:
                answer = _holds(ev, operation, condition, flag)
            if answer is False:
                return False
            is_proven = is_proven and answer is True
    return True if is_proven else None


def _is_about_a_tensor(condition: Condition) -> bool:
    return condition.test in ("is-float", "is-tensor", *FORMS)


def _needs_no_grad(operation: Operation, row: OpRow) -> bool:
    """Whether no input of the operation takes part in a backward pass: of an indexed read, what is read from."""
    if "indices" in row.flags:
        return operation.subject is not None and operation.subject.grad is False
    return operation.all_inputs(lambda one: one.grad is False)


def _holds(ev: Evaluator, operation: Operation, condition: Condition, flag: Flag) -> bool | None:
    if condition.parameter == "context":
        in_context = {"eager", flag}
        return not in_context.isdisjoint(condition.values)
    if condition.test == "is-float":
        return operation.subject.floating if operation.subject is not None else None
    if condition.test == "is-tensor":
        written = _written(operation.args, condition)
        return written is not None and tensor(ev, written, operation.frame) is not None
    if not condition.decided_by_arguments:
        return None
    given, values = _argument(ev, operation, condition)
    if not given:
        return condition.holds(False)
    if condition.test in ("missing-or-none", "not-none"):
        nothing = agreed(is_none(value) for value in values)
        if nothing is not None:
            return nothing is (condition.test == "missing-or-none")
        written = _written(operation.args, condition)
        is_tensor = written is not None and tensor(ev, written, operation.frame) is not None
        return condition.test == "not-none" if is_tensor else None
    verdict = agreed(_verdict(condition, value) for value in values)
    return None if verdict is False and _may_differ_in_a_subclass(ev, operation, condition) else verdict


def _may_differ_in_a_subclass(ev: Evaluator, operation: Operation, condition: Condition) -> bool:
    """Whether an argument is an attribute of an object that may be of a subclass, which may give it another value."""
    facts, scope = operation.frame.facts, operation.frame.scope
    match _written(operation.args, condition):
        case tree.Attribute(value=tree.Name(id=owner)) if owner == scope.self_name:
            if operation.frame != frame_without_callers(ev, facts, scope):
                return False
            cls = class_of_method(ev, facts, scope)
            return cls is not None and next(iter(ev.subclasses(cls)), None) is not None
    return False


def _argument(ev: Evaluator, operation: Operation, condition: Condition) -> tuple[bool, Values]:
    """Whether the argument of a condition is, or may be, given, and what it can be."""
    if any(arg.star for arg in operation.args):
        arguments = ev.arguments(operation.args, operation.frame)
        return argument(arguments, condition.parameter, condition.position)
    written = _written(operation.args, condition)
    return written is not None, frozenset() if written is None else ev.values(written, operation.frame)


def _written(args: Sequence[tree.Arg], condition: Condition) -> tree.Expr | None:
    """The expression that a call has for the parameter of a condition."""
    for index, arg in enumerate(args):
        if arg.star:
            return None
        if arg.keyword == condition.parameter or (arg.keyword is None and index == condition.position):
            return arg.value
    return None


def _verdict(condition: Condition, value: Value) -> bool | None:
    literal = _literal(value)
    if not isinstance(literal, tuple) or UNKNOWN not in literal or condition.test == "length-is":
        return condition.holds(True, literal)
    # A tuple of which only some parts are known: it differs where a known part does.
    possible = any(
        isinstance(wanted, tuple)
        and len(wanted) == len(literal)
        and all(part is UNKNOWN or part == other for part, other in zip(literal, wanted, strict=True))
        for wanted in condition.values
    )
    return None if possible else condition.test.startswith("differs")


def _literal(value: Value) -> object:
    """The constant that a value is; a sequence of known length as a tuple, with `UNKNOWN` for what is not known."""
    match value:
        case Constant(value=constant):
            return constant
        case SequenceValue(kind="tuple" | "list", items=items) if items is not None:
            return tuple(_only(values) for values in items)
    return UNKNOWN


def _only(values: Values) -> object:
    return _literal(next(iter(values))) if len(values) == 1 else UNKNOWN
