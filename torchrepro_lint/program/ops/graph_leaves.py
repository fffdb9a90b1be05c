"""Tensors that no gradient flows back to because of where they are made: under `torch.no_grad()`; or by `.data`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.ops.regions import is_without_grad
from torchrepro_lint.program.ops.tensor_results import Tensor
from torchrepro_lint.program.running.call_index import called_name

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["asks_for_gradient", "off_the_graph"]


def off_the_graph(ev: Evaluator, found: Tensor | None, node: tree.Expr | None, frame: Frame) -> Tensor | None:
    """`found`, which the expression `node` gives, without a gradient where the expression is a new tensor that is made
    where no graph is kept, or is another's `.data`.
    """
    if found is None or node is None or found.grad is False:
        return found
    if isinstance(node, tree.Attribute) and node.attr == "data":
        return replace(found, grad=False)
    if not _makes_another(node):
        return found
    is_off = is_without_grad(ev, frame.facts, frame.scope, node.site)
    return replace(found, grad=False) if is_off else found


def asks_for_gradient(scope: Scope, name: str) -> bool:
    """Whether a tensor is made a leaf of the graph later: `x.requires_grad_()`, `x.requires_grad = True`."""
    for call, _ in scope.calls:
        match call.func:
            case tree.Attribute(value=tree.Name(id=owner), attr="requires_grad_" | "retain_grad") if owner == name:
                return True
    return any(
        isinstance(store.target, tree.Attribute)
        and store.target.attr == "requires_grad"
        and isinstance(store.target.value, tree.Name)
        and store.target.value.id == name
        for store in scope.stores
    )


def _makes_another(node: tree.Expr) -> bool:
    """Whether an expression gives a tensor of its own, which is not asked to begin a graph."""
    match node:
        case tree.Call(func=func, args=args):
            word = called_name(func) or ""
            is_leaf = word.endswith(("_", "Parameter")) or any(arg.keyword == "requires_grad" for arg in args)
            return not is_leaf
        case tree.Binary() | tree.Unary() | tree.Subscript():
            return True
    return False
