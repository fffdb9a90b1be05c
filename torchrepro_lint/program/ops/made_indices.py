"""Indices that a function of the project makes and fills: `index = torch.zeros(n, 1)`, and each row gets its number.

The sizes in the call that makes a tensor tell along which dimension it has one place, also after it has gone through a
function that returns it and was moved to a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External, FunctionValue
from torchrepro_lint.program.ops.op_arguments import unmoved
from torchrepro_lint.program.running.callers import frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_made_with_one_place"]

#: Functions of torch that are given the sizes of what they make, as numbers or as one sequence.
_MAKES: Final = frozenset(
    f"torch.{name}" for name in ("empty", "ones", "rand", "zeros", "Tensor", "FloatTensor", "IntTensor", "LongTensor")
)
_STEPS: Final = 6


def is_made_with_one_place(ev: Evaluator, index: tree.Expr, dimension: int, frame: Frame, steps: int = _STEPS) -> bool:
    """Whether the call that makes an index gives it one place along a dimension."""
    index = unmoved(index)
    if not steps:
        return False
    if isinstance(index, tree.Name):
        given = _given(index, frame)
        return given is not None and is_made_with_one_place(ev, given, dimension, frame, steps - 1)
    if not isinstance(index, tree.Call):
        return False
    called = ev.values(index.func, frame)
    if called and all(isinstance(value, External) and value.name in _MAKES for value in called):
        return _is_one(_sizes(index), dimension)
    value = next(iter(called)) if len(called) == 1 else None
    if not isinstance(value, FunctionValue) or not isinstance(value.node, tree.FunctionDef):
        return False
    facts = value.frame.facts
    inside = frame_without_callers(ev, facts, facts.scope_of(value.node))
    returned = [statement.value for statement, _ in inside.scope.returns]
    return bool(returned) and all(
        one is not None and is_made_with_one_place(ev, one, dimension, inside, steps - 1) for one in returned
    )


def _given(name: tree.Name, frame: Frame) -> tree.Expr | None:
    """The expression that a local name is bound to, once, be it one of several: `x, y = x.cuda(), y.cuda()`."""
    bindings, certain = frame.scope.reaching(name.id, name.site)
    if not certain or len(bindings) != 1 or bindings[0].kind != "assign":
        return None
    node, unpack = bindings[0].node, bindings[0].unpack
    if not unpack:
        return node  # type: ignore[return-value]
    if len(unpack) == 1 and isinstance(node, tree.Display) and unpack[0] < len(node.items):
        return node.items[unpack[0]]
    return None


def _sizes(call: tree.Call) -> list[tree.Expr]:
    named = [arg.value for arg in call.args if arg.keyword == "size"]
    given = named or [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if len(given) == 1 and isinstance(given[0], tree.Display):
        return list(given[0].items)
    return given


def _is_one(sizes: list[tree.Expr], dimension: int) -> bool:
    if len(sizes) < 2 or not -len(sizes) <= dimension < len(sizes):
        return False
    size = sizes[dimension]
    return isinstance(size, tree.Const) and size.value == 1
