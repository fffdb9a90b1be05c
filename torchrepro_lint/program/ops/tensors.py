"""Whether an expression is a tensor, as far as can be told, and what is known about that tensor.

A method such as `gather` or `cumsum` counts as torch's only where its receiver shows itself as a tensor: made by a
function of torch, what a network gives, a parameter of a network's `forward`, annotated, moved to a device. What shows
nothing is none: a data frame, an array, a dict, an object of the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.ops.graph_leaves import off_the_graph
from torchrepro_lint.program.ops.tensor_arithmetic import combined
from torchrepro_lint.program.ops.tensor_attributes import attribute_tensor
from torchrepro_lint.program.ops.tensor_calls import called, item
from torchrepro_lint.program.ops.tensor_names import named
from torchrepro_lint.program.ops.tensor_results import Tensor, joined

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Tensors", "tensor"]

_NO_TENSOR_OPERATORS = frozenset({"is", "is not", "in", "not in"})


def tensor(ev: Evaluator, node: tree.Expr, frame: Frame) -> Tensor | None:
    """What is known about the tensor that `node` is; None where it does not show itself as one."""
    return Tensors(ev).of(node, frame)


@dataclass(frozen=True, slots=True)
class Tensors:
    """The tensors of a project. What is known about one depends on others: names and calls ask for those here."""

    ev: Evaluator

    def of(self, node: tree.Expr, frame: Frame) -> Tensor | None:
        """What is known about the tensor that `node` is; None where it does not show itself as one."""
        return self.ev.remembered(
            ("tensor", node, frame), lambda: off_the_graph(self.ev, self._of(node, frame), node, frame), None
        )

    def _of(self, node: tree.Expr, frame: Frame) -> Tensor | None:
        match node:
            case tree.Name(site=site, id=name):
                return named(self, name, site, frame)
            case tree.Attribute():
                return attribute_tensor(self, node, frame)
            case tree.Call():
                return called(self, node, frame)
            case tree.Subscript():
                return item(self, node, frame)
            case tree.Unary(op="-" | "~" | "+", operand=operand):
                return self.of(operand, frame)
            case tree.Binary(op=op, left=left, right=right):
                return combined(op, ((self.of(left, frame), left), (self.of(right, frame), right)), frame.scope)
            case tree.Compare(left=left, ops=(op, *_), comparators=(right, *_)) if op not in _NO_TENSOR_OPERATORS:
                found = joined((self.of(left, frame), self.of(right, frame)))
                return Tensor(found.on_cpu, False, False) if found is not None else None
            case tree.Conditional():
                return joined([self.of(option, frame) for option in options_of(self.ev, node, frame)])
            case tree.Walrus(value=value) | tree.Starred(value=value):
                return self.of(value, frame)
        return None
