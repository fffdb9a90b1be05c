"""The operations of torch that a project calls, and for which of the rows of knowledge/ops.tsv a call is proven.

A function is found by its qualified name, a method by its name and a receiver that is a tensor, a network module where
it is constructed. A row counts where the argument list proves its conditions; what hangs on a shape, a kernel or a
layout that the text does not show counts as not proven.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.conditions import UNKNOWN, Condition
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ops import OpRow, op_names, op_rows
from torchrepro_lint.program.evaluation.conditions import agreed, is_none
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import Constant, External, SequenceValue, Site, Value, Values
from torchrepro_lint.program.ops.tensor_params import named_as_data
from torchrepro_lint.program.ops.tensor_results import Tensor
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers
from torchrepro_lint.program.workers.workers import argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "Flag",
    "Operation",
    "find_operations",
    "operation_name",
    "operation_words",
    "rows_proven",
    "runs_somewhere",
]

_METHOD = "torch.Tensor."

#: How torch's determinism flag stands.
Flag = Literal["off", "warn", "raise"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of an operation, or one construction of a module for it, in a frame.

    `name` is canonical, `torch.Tensor.scatter_add_` for a method. `subject` is the tensor operated upon, `inputs` are
    all tensors among its receiver and its arguments, both as far as they show themselves.
    """

    name: str
    call: tree.Call
    site: Site
    frame: Frame
    path: ArmPath
    subject: Tensor | None
    inputs: tuple[Tensor, ...]

    @property
    def is_method(self) -> bool:
        return self.name.startswith(_METHOD)

    @property
    def is_module(self) -> bool:
        """Whether this constructs what runs the operation later, in its `forward`."""
        return self.name.rpartition(".")[2][:1].isupper()

    @property
    def short(self) -> str:
        """The name as a person says it: `Tensor.scatter_add_`, `nn.Upsample`, `F.grid_sample`."""
        for long, short in (("torch.nn.functional.", "F."), ("torch.nn.", "nn."), ("torch.Tensor.", "Tensor.")):
            if self.name.startswith(long):
                return short + self.name.removeprefix(long)
        return self.name


@cache
def operation_words() -> re.Pattern[bytes]:
    """Finds in the bytes of a file the last part of any operation's name."""
    words = sorted({name.rpartition(".")[2] for name in op_names()} - {"*"})
    return re.compile(rb"\b(?:" + b"|".join(re.escape(word.encode()) for word in words) + rb")\b")


@cache
def _by_last_part() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in sorted(op_names()):
        found.setdefault(name.rpartition(".")[2], []).append(name)
    return {last: tuple(names) for last, names in found.items()}


_NEVER_REPORTED = frozenset({"cublas", "memory", "mps", "compiled", "cudnn", "indexing"})


def _may_matter(call: tree.Call, last: str) -> bool:
    """A quick look at the argument list alone: whether some row of an operation of that name may hold for the call."""
    return any(
        not row.flags & _NEVER_REPORTED and not any(_is_ruled_out(call, condition) for condition in row.when)
        for name in _by_last_part().get(last, ())
        for row in op_rows(name)
    )


def _is_ruled_out(call: tree.Call, condition: Condition) -> bool:
    """Whether a condition fails because its argument is not given, or is given as a literal that it does not admit."""
    if not condition.decided_by_arguments:
        return False
    for index, arg in enumerate(call.args):
        if arg.star or (arg.keyword is None and index == condition.position) or arg.keyword == condition.parameter:
            literal = arg.value.value if isinstance(arg.value, tree.Const) and not arg.star else UNKNOWN
            return condition.test != "is-tensor" and condition.holds(True, literal) is False
    return condition.holds(False) is False


def find_operations(ev: Evaluator, path: Path) -> list[Operation]:
    """The operations that one file calls, in the order of the text, each in one of the frames in which it runs."""
    facts = ev.project.facts(path)
    if facts is None:
        return []
    found: list[Operation] = []
    for scope in facts.walk_scopes():
        found.extend(_in_scope(ev, facts, scope))
    return found


def _in_scope(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[Operation]:
    nothing: dict[str, str] = {}
    aliases = ev.remembered(("imported-as", id(facts)), lambda: _imported_as(facts), nothing)
    calls = [
        (call, path)
        for call, path in scope.calls
        if (name := called_name(call.func)) is not None and _may_matter(call, aliases.get(name, name))
    ]
    if not calls:
        return
    # Who calls the scope is asked only where the scope itself leaves something open: that takes much longer.
    seen: set[int] = set()
    for frame in _frames(ev, facts, scope):
        ev.begin_question()
        for call, path in calls:
            if call.site in seen or ev.decide(path, frame) is False:
                continue
            name = operation_name(ev, call, frame)
            if name is not None:
                seen.add(call.site)
                given = [tensor(ev, node, frame) for node in _operands(name, call)]
                if given and given[0] is None:
                    given[0] = named_as_data(_operands(name, call)[0])
                inputs = tuple(one for one in given if one is not None)
                yield Operation(name, call, ev.site(call, frame), frame, path, given[0] if given else None, inputs)
        if len(seen) == len(calls):
            return


def _frames(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[Frame]:
    yield frame_without_callers(ev, facts, scope)
    yield from contexts(ev, facts, scope)


def _imported_as(facts: ModuleFacts) -> dict[str, str]:
    """The names that imports give other names: `from torch.nn.functional import grid_sample as sample`."""
    aliases: dict[str, str] = {}
    for scope in facts.walk_scopes():
        for bindings in scope.bindings.values():
            for binding in bindings:
                if isinstance(binding.node, tree.ImportFrom):
                    aliases.update({alias: name for name, alias in binding.node.names if alias is not None})
    return aliases


def operation_name(ev: Evaluator, call: tree.Call, frame: Frame) -> str | None:
    """The operation that a call is, by the function called, or by a method of a tensor."""
    for value in ordered(ev.values(call.func, frame)):
        if isinstance(value, External):
            name = canonical(value.name)
            if op_rows(name):
                return name
    match call.func:
        case tree.Attribute(value=receiver, attr=attr) if op_rows(_METHOD + attr):
            if tensor(ev, receiver, frame) is not None:
                return _METHOD + attr
    return None


def _operands(name: str, call: tree.Call) -> list[tree.Expr]:
    """What a call works on: the receiver of a method, and the arguments."""
    nodes = [arg.value for arg in call.args if not arg.star]
    if name.startswith(_METHOD) and isinstance(call.func, tree.Attribute):
        nodes.insert(0, call.func.value)
    return nodes


# --- rows ---------------------------------------------------------------------------------------------------------


def rows_proven(
    ev: Evaluator, operation: Operation, rows: Sequence[OpRow], *, flag: Flag, any_backend: bool = False
) -> list[OpRow]:
    """The rows whose conditions are proven for a call in eager mode, with the determinism flag as `flag` says. With
    `any_backend`, every kernel that torch may choose counts as chosen.

    An argument that the scope alone does not show is looked up in the frames in which callers run it.
    """
    rows = [row for row in rows if not (row.phase == "backward" and _needs_no_grad(operation, row))]
    verdicts = [_all_hold(ev, operation, row, flag, any_backend) for row in rows]
    proven = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict]
    if proven or None not in verdicts:
        return proven
    open_rows = [row for row in rows if all(condition.decided_by_arguments for condition in row.when)]
    for frame in contexts(ev, operation.frame.facts, operation.frame.scope) if open_rows else ():
        there = replace(operation, frame=frame)
        proven = [row for row in open_rows if _all_hold(ev, there, row, flag, any_backend) is True]
        if proven:
            return proven
    return []


def runs_somewhere(ev: Evaluator, operation: Operation) -> bool:
    """Whether some caller in sight runs the operation, so that no guard rules it out for all of them."""
    if not any(isinstance(operation.frame.scope.branches.get(branch), tree.If) for branch, _ in operation.path):
        return True
    frames = contexts(ev, operation.frame.facts, operation.frame.scope)
    return any(ev.decide(operation.path, frame) is not False for frame in frames)


def _all_hold(ev: Evaluator, operation: Operation, row: OpRow, flag: Flag, any_backend: bool) -> bool | None:
    """Whether all conditions of a row hold; None where one is not proven and none is ruled out."""
    answers = [
        _holds(ev, operation, condition, flag)
        for condition in row.when
        if not (any_backend and condition.parameter == "backend")
    ]
    return False if False in answers else (None if None in answers else True)


def _needs_no_grad(operation: Operation, row: OpRow) -> bool:
    """Whether no input of the operation takes part in a backward pass: of an indexed read, what is read from."""
    if "indices" in row.flags:
        return operation.subject is not None and operation.subject.grad is False
    return bool(operation.inputs) and all(one.grad is False for one in operation.inputs)


def _holds(ev: Evaluator, operation: Operation, condition: Condition, flag: Flag) -> bool | None:
    if condition.parameter == "context":
        in_context = {"eager", flag}
        return not in_context.isdisjoint(condition.values)
    if condition.test == "is-float":
        return operation.subject.floating if operation.subject is not None else None
    if condition.test == "is-tensor":
        written = _written(operation.call, condition)
        return written is not None and tensor(ev, written, operation.frame) is not None
    if not condition.decided_by_arguments:
        return None
    given, values = argument(
        ev.arguments(operation.call.args, operation.frame), condition.parameter, condition.position
    )
    if not given:
        return condition.holds(False)
    if condition.test in ("missing-or-none", "not-none"):
        written = _written(operation.call, condition)
        if written is not None and tensor(ev, written, operation.frame) is not None:
            return condition.test == "not-none"
        nothing = agreed(is_none(value) for value in values)
        return None if nothing is None else nothing is (condition.test == "missing-or-none")
    return agreed(_verdict(condition, value) for value in values)


def _written(call: tree.Call, condition: Condition) -> tree.Expr | None:
    """The expression that a call has for the parameter of a condition."""
    for index, arg in enumerate(call.args):
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
