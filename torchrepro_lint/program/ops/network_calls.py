"""What a call may run, be it that the scope shows it or that its callers do: `def train_epoch(model, loader)` does not
say what its model is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.tensors import tensor_methods
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import NOTHING, UNKNOWN, Values, union
from torchrepro_lint.program.ops.tensor_values import is_network
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["networks_of_callers", "runs_network"]


def runs_network(ev: Evaluator, functions: Values) -> bool:
    """Whether a network is called."""
    return any(is_network(ev, value) for value in functions)


def networks_of_callers(ev: Evaluator, callee: tree.Expr, frame: Frame) -> Values:
    """The networks that the callers of the function pass to it, or that its object holds, and that the call runs."""
    match callee:
        case tree.Attribute(value=tree.Name() | tree.Attribute(), attr=attr) if attr not in tensor_methods():
            pass
        case tree.Name():
            pass
        case _:
            return NOTHING
    if UNKNOWN not in ev.values(callee, frame):
        return NOTHING
    found = union(*(ev.values(callee, other) for other in contexts(ev, frame.facts, frame.scope)))
    return frozenset(value for value in found if is_network(ev, value))
