"""What an operator of arithmetic gives for two tensors, or for a tensor and a number."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.program.ops.tensor_results import Tensor

__all__ = ["combined"]


def combined(op: str, sides: tuple[tuple[Tensor | None, tree.Expr], ...]) -> Tensor | None:
    """What an operator of arithmetic gives for its two sides, each as a tensor, if it is one, and as it is written."""
    tensors = [one for one, _ in sides if one is not None]
    if not tensors:
        return None
    numbers = [node.value if isinstance(node, tree.Const) else None for one, node in sides if one is None]
    floats = [*(one.floating for one in tensors), *(None if n is None else isinstance(n, float) for n in numbers)]
    floating = True if op == "/" or True in floats else (None if None in floats else False)
    grads = [one.grad for one in tensors]
    grad = True if True in grads else (None if None in grads else False)
    is_exact = all(one.is_exact for one in tensors) and all(isinstance(number, int) for number in numbers)
    return Tensor(
        # A tensor on the CPU and one elsewhere do not combine, unless the one on the CPU is a scalar.
        on_cpu=all(one.on_cpu for one in tensors),
        floating=floating,
        grad=grad,
        distinct=(
            op in ("+", "-")
            and sum(one.distinct for one in tensors) == 1
            and all(one is None or one.distinct or _is_steady(node) for one, node in sides)
        ),
        whole=is_exact and op in ("+", "-", "*"),
    )


def _is_steady(node: tree.Expr) -> bool:
    """Whether an expression is a number, or has one in each row: `labels[:, None] * 4`."""
    match node:
        case tree.Const():
            return True
        case tree.Subscript(index=tree.Display(items=(*_, tree.Const(value=None)))):
            return True
        case tree.Binary(left=left, right=right):
            return _is_steady(left) and _is_steady(right)
    return False
