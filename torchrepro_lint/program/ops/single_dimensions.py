"""Dimensions in which a tensor has one place: what `unsqueeze`, `keepdim=True`, `topk(1)` and `[..., None]` leave.

An index that has one place along a dimension reads, or adds to, each row there once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.tensors import keeps_dimension
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Arguments, Constant
from torchrepro_lint.program.loaders.worker_runs import argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["single_by_call", "single_by_index"]


def single_by_call(ev: Evaluator, last: str, node: tree.Call, frame: Frame, *, is_method: bool) -> frozenset[int]:
    """The dimensions that a call of the function or method with the last name `last` leaves with one place."""
    arguments, first = ev.arguments(node.args, frame), 0 if is_method else 1
    if last == "unsqueeze":
        found = _constant(arguments, "dim", first)
    elif last == "topk" and _constant(arguments, "k", first) == 1:
        found = _constant(arguments, "dim", first + 1, -1)
    elif keeps_dimension(last) and _constant(arguments, "keepdim", first + 1) is True:
        found = _constant(arguments, "dim", first)
    else:
        return frozenset()
    return frozenset((found,)) if type(found) is int else frozenset()


def _constant(arguments: Arguments, name: str, position: int, default: object = None) -> object:
    """The constant that is given for a parameter; None where it is not known, `default` where nothing is given."""
    given, values = argument(arguments, name, position)
    if not given:
        return default
    value = next(iter(values)) if len(values) == 1 else None
    return value.value if isinstance(value, Constant) else None


def single_by_index(index: tree.Expr) -> frozenset[int]:
    """The dimensions that an index puts in: 1 of `x[:, None]`, -1 of `x[..., None]`."""
    parts = index.items if isinstance(index, tree.Display) else (index,)
    dots = next((place for place, part in enumerate(parts) if _is_constant(part, ...)), None)
    kept = [part for part in parts if not (isinstance(part, tree.Const) and type(part.value) is int)]
    if len(kept) < len(parts):  # a dimension is taken out
        return frozenset()
    return frozenset(
        place if dots is None or place < dots else place - len(parts)
        for place, part in enumerate(parts)
        if _is_constant(part, None)
    )


def _is_constant(node: tree.Expr, value: object) -> bool:
    return isinstance(node, tree.Const) and node.value is value
