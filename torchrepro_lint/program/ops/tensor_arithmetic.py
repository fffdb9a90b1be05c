"""What an operator of arithmetic gives for two tensors, or for a tensor and a number."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import written_alike
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.ops.tensor_results import Tensor

__all__ = ["combined"]


def combined(op: str, sides: tuple[tuple[Tensor | None, tree.Expr], ...], scope: Scope) -> Tensor | None:
    """What an operator of arithmetic gives for its two sides in a scope, each as a tensor, if it is one, and as it is
    written.
    """
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
        )
        or (op == "+" and _are_offsets([scope.behind(node) for _, node in sides])),
        whole=is_exact and op in ("+", "-", "*"),
    )


def _are_offsets(sides: list[tree.Expr]) -> bool:
    """Whether two addends give each row numbers of its own: `index * n + torch.arange(n)`, and as the flat index of one
    place in each of `rows` times n `index + torch.arange(0, rows * n, n)`.
    """
    return any(_counts_rows(one, other) for one, other in (sides, reversed(sides)))


def _counts_rows(offsets: tree.Expr, index: tree.Expr) -> bool:
    match offsets:
        case tree.Call(func=tree.Attribute(attr="arange"), args=args):
            match [arg.value for arg in args if arg.keyword is None and not arg.star]:
                case [tree.Const(value=0), tree.Binary(op="*", left=left, right=right), step]:
                    return written_alike(left, step) or written_alike(right, step)
                case [tree.Const(value=0), count] | [count]:
                    return isinstance(index, tree.Binary) and index.op == "*" and written_alike(index.right, count)
    return False


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
