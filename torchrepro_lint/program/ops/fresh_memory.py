"""Tensors whose memory is left as it was found: `torch.empty` and its sisters, where they have elements at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.ops import op_names, op_rows
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.torch_devices import device_name
from torchrepro_lint.program.evaluation.values import (
    Constant,
    SequenceValue,
    Value,
    Values,
)
from torchrepro_lint.program.ops.op_runs import is_inside
from torchrepro_lint.program.ops.operations import Operation, operation_at
from torchrepro_lint.program.running.callers import called_name, frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["fresh_words", "makes_fresh_memory"]


@cache
def _last_parts() -> frozenset[str]:
    return frozenset(
        last_part(name) for name in op_names() if any(row.effect == "fills_memory" for row in op_rows(name))
    )


@cache
def fresh_words() -> re.Pattern[bytes]:
    """Finds in the bytes of a file the last part of the name of a call that makes such a tensor."""
    return re.compile(rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(_last_parts())) + rb")\(")


def makes_fresh_memory(program: Program, path: Path) -> Iterator[Operation]:
    """The calls in a file that give memory as it was found, in the order of the text."""
    facts = program.facts(path)
    if facts is None:
        return
    without_memory = known_calls("without_memory")
    for scope in facts.walk_scopes():
        frame: Frame | None = None
        for call, arms in scope.calls:
            if called_name(call.func) not in _last_parts():
                continue
            frame = frame or frame_without_callers(program.ev, facts, scope)
            made = _makes(program.ev, call, frame, arms)
            if made is not None and _is_fresh(program, made) and not is_inside(program, made, without_memory):
                yield made


def _makes(ev: Evaluator, call: tree.Call, frame: Frame, path: ArmPath) -> Operation | None:
    """The call, where it is one that can give memory as it was found."""
    made = operation_at(ev, call, frame, path)
    return made if made is not None and any(row.effect == "fills_memory" for row in op_rows(made.name)) else None


def _is_fresh(program: Program, made: Operation) -> bool:
    if any(arg.keyword == "out" for arg in made.call.args) or _is_on_meta(program.ev, made):
        return False
    if made.name.endswith((".resize_", ".resize_as_")):
        return _grows_from_nothing(program.ev, made)
    return _has_elements(program.ev, made) is True


def _is_on_meta(ev: Evaluator, made: Operation) -> bool:
    return any(
        _names_meta(value)
        for arg in made.call.args
        if arg.keyword == "device"
        for value in ev.values(arg.value, made.frame)
    )


def _names_meta(value: Value) -> bool:
    match value:
        case Constant(value="meta"):
            return True
    return any(map(_names_meta, device_name(value)))


_SIZED_BY_TYPE = re.compile(r"Tensor$|\.new$")


def _has_elements(ev: Evaluator, made: Operation) -> bool | None:
    """Whether a call gives a tensor with elements in memory as it was found; None where that cannot be told.

    A size that is not known counts as one that is not zero. The old constructors take data as well as sizes: only what
    are surely sizes count.
    """
    sizes = [arg for arg in made.call.args if arg.keyword in (None, "size")]
    values = [ev.values(arg.value, made.frame) for arg in sizes]
    if not sizes:
        return False if _SIZED_BY_TYPE.search(made.name) else None
    if any(_may_be_zero(one) for one in values):
        return False if all(_is_zero(one) for one in values) else None
    if _SIZED_BY_TYPE.search(made.name):
        several = len(sizes) > 1 and not any(arg.star for arg in sizes)
        return True if several or all(_is_number(one) for one in values) else None
    return True


def _may_be_zero(values: Values) -> bool:
    return any(_holds_zero(value) for value in values)


def _holds_zero(value: Value) -> bool:
    match value:
        case Constant(value=0):
            return True
        case SequenceValue(items=items) if items is not None:
            return any(_may_be_zero(item) for item in items)
    return False


def _is_zero(values: Values) -> bool:
    return bool(values) and all(_holds_zero(value) for value in values)


def _is_number(values: Values) -> bool:
    return bool(values) and all(isinstance(value, Constant) and type(value.value) is int for value in values)


def _grows_from_nothing(ev: Evaluator, made: Operation) -> bool:
    """Whether `tensor.resize_(...)` gives all of its memory to a tensor that had none."""
    if not isinstance(made.call.func, tree.Attribute) or _has_elements(ev, made) is not True:
        return False
    receiver = made.call.func.value
    if isinstance(receiver, tree.Name):
        bindings, certain = made.frame.scope.reaching(receiver.id, receiver.site)
        only = bindings[0] if len(bindings) == 1 and certain else None
        receiver = only.node if only is not None and only.kind == "assign" else None  # type: ignore[assignment]
    if not isinstance(receiver, tree.Call):
        return False
    before = _makes(ev, receiver, made.frame, made.path)
    return before is not None and _has_elements(ev, before) is False
