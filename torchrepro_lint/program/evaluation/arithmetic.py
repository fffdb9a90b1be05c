"""What `left op right` can be: numbers, texts, joined sequences, dicts and datasets, tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.containers import TENSOR, updated
from torchrepro_lint.program.evaluation.module_containers import joined_modules
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    UNKNOWN,
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

__all__ = ["combine", "computed"]


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
    """`left + right` for an object: torch's datasets join what is added, and so do classes that derive from them, and
    containers of modules.
    """
    if isinstance(left, Instance):
        methods = ev.attribute(left, "__add__")
        if methods:
            return ev.call_all(methods, Arguments((values_of(right),)), None)
    joiner = _joiner(ev, left)
    if joiner is None:
        return joined_modules(left, right, partial(_combine_two, "+"))
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
        case Constant(value=int() as number), _ if op == "//" and number == 0 and right is UNKNOWN:
            return values_of(Constant(0))  # of each process, where there is none: `num_workers // gpus`
        case SequenceValue(), _ if op == "*":
            return values_of(SequenceValue(left.kind, None, left.elements()))
    for value in (left, right):
        if isinstance(value, ExternalObject) and value.name == TENSOR:
            return values_of(ExternalObject(TENSOR))
    return unknown()


#: Numbers of more bits, and longer texts and bytes, are not computed: no seed or size is one, and a few lines of code
#: can double them until no memory is left.
MAX_BITS = 1024
MAX_TEXT = 1000


def is_small(value: object) -> bool:
    """Whether a value is of a size that is computed with."""
    match value:
        case bool() | None:
            return True
        case int():
            return value.bit_length() <= MAX_BITS
        case float():
            return value == value  # NaN is no value: it does not even equal itself
        case str() | bytes():
            return len(value) <= MAX_TEXT
    return False


def computed(make: Callable[[], object], *operands: object) -> Values:
    """The constant that `make` computes from the operands; unknown where an operand or the result is not small, or
    Python would raise an error.
    """
    if not all(map(is_small, operands)):
        return unknown()
    try:
        value = make()
    except (ArithmeticError, TypeError, ValueError):
        return unknown()
    return values_of(Constant(value)) if is_small(value) else unknown()  # type: ignore[arg-type]  # is_small lets no other type pass


def _arithmetic(op: str, a: tree.ConstantValue, b: tree.ConstantValue) -> Values:
    if op == "+" and isinstance(a, str) and isinstance(b, str):
        return computed(lambda: a + b, a, b)
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float)) and _is_bounded(op, a, b)):
        return unknown()
    compute = _OPERATORS.get(op)
    return computed(lambda: compute(a, b), a, b) if compute is not None else unknown()


def _is_bounded(op: str, a: float, b: float) -> bool:
    """Whether the result is at most a few times as long as the operands, which alone are known to be small."""
    if not (isinstance(a, int) and isinstance(b, int)):
        return True
    match op:
        case "**":
            return 0 <= b <= MAX_BITS and a.bit_length() * b <= MAX_BITS
        case "<<":
            return 0 <= b <= MAX_BITS
    return True


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], object]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
}  # fmt: skip
