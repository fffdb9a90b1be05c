"""What `left op right` can be: numbers, texts, joined sequences, dicts and datasets, tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.containers import TENSOR, updated
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    Constant,
    DictValue,
    ExternalObject,
    Instance,
    SequenceValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["combine"]


def combine(ev: Evaluator, op: str, left: Values, right: Values) -> Values:
    """What `left op right` can be: arithmetic on constants, joined sequences and dicts, tensors."""
    parts = []
    for a in left:
        for b in right:
            added = _added(ev, a, b) if op == "+" else None
            parts.append(added if added is not None else _combine_two(op, a, b))
            if len(parts) > 64:
                return unknown()
    return union(*parts) if parts else unknown()


def _added(ev: Evaluator, left: Value, right: Value) -> Values | None:
    """`left + right` for an object: torch's datasets join what is added, and so do classes that derive from them."""
    if isinstance(left, Instance):
        methods = ev.attribute(left, "__add__")
        if methods:
            return ev.call_all(methods, Arguments((values_of(right),)), None)
    joiner = _joiner(ev, left)
    if joiner is None:
        return None
    both = SequenceValue("list", (values_of(left), values_of(right)), NOTHING)
    return values_of(ExternalObject(joiner, Arguments((values_of(both),))))


def _joiner(ev: Evaluator, value: Value) -> str | None:
    names: tuple[str, ...] = ()
    if isinstance(value, Instance):
        names = external_bases(ev, value.cls)
    elif isinstance(value, ExternalObject):
        names = (value.name,)
    if "torch.utils.data.IterableDataset" in names:
        return "torch.utils.data.ChainDataset"
    known = [external_callable(name) for name in names]
    if "torch.utils.data.Dataset" in names or any(one is not None and one.is_dataset for one in known):
        return "torch.utils.data.ConcatDataset"
    return None


def _combine_two(op: str, left: Value, right: Value) -> Values:
    match left, right:
        case Constant(value=a), Constant(value=b):
            return _arithmetic(op, a, b)
        case SequenceValue(), SequenceValue() if op == "+":
            if left.items is not None and right.items is not None:
                return values_of(SequenceValue(left.kind, left.items + right.items, NOTHING))
            return values_of(SequenceValue(left.kind, None, union(left.elements(), right.elements())))
        case DictValue(), DictValue() if op == "|":
            return values_of(updated(left, right, True))
        case SequenceValue(), _ if op == "*":
            return values_of(SequenceValue(left.kind, None, left.elements()))
    for value in (left, right):
        if isinstance(value, ExternalObject) and value.name == TENSOR:
            return values_of(ExternalObject(TENSOR))
    return unknown()


def _arithmetic(op: str, a: tree.ConstantValue, b: tree.ConstantValue) -> Values:
    if isinstance(a, str) and isinstance(b, str) and op == "+":
        return values_of(Constant(a + b)) if len(a) + len(b) < 1000 else unknown()
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return unknown()
    try:
        match op:
            case "+":
                return values_of(Constant(a + b))
            case "-":
                return values_of(Constant(a - b))
            case "*":
                return values_of(Constant(a * b))
            case "/":
                return values_of(Constant(a / b))
            case "//":
                return values_of(Constant(a // b))
            case "%":
                return values_of(Constant(a % b))
            case "**" if abs(a) <= 1024 and 0 <= b <= 1024:
                return values_of(Constant(a**b))
            case "<<" if isinstance(a, int) and isinstance(b, int) and 0 <= b <= 256:
                return values_of(Constant(a << b))
    except (ArithmeticError, TypeError, ValueError):
        return unknown()
    return unknown()
