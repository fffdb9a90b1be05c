"""Whether a call runs a network: one that the scope makes itself, or one that its callers pass or its object holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import UNKNOWN
from torchrepro_lint.program.ops.tensor_values import is_network
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["runs_network"]


def runs_network(ev: Evaluator, callee: tree.Expr, frame: Frame) -> bool:
    """Whether a network is called. `def train_epoch(model, loader)` does not show what its model is: its calls do."""
    functions = ev.values(callee, frame)
    if any(is_network(ev, value) for value in functions):
        return True
    if UNKNOWN not in functions or not isinstance(callee, (tree.Name, tree.Attribute)):
        return False
    return any(
        is_network(ev, value) for other in contexts(ev, frame.facts, frame.scope) for value in ev.values(callee, other)
    )
