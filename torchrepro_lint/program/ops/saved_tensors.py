"""What the `forward` of a torch.autograd.Function keeps for its `backward`, and what `apply` is given for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.ops.tensor_results import Tensor
from torchrepro_lint.program.running.call_index import calls_named
from torchrepro_lint.program.running.callers import frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.ops.tensors import Tensors

__all__ = ["applications", "saved_tensor"]


def saved_tensor(tensors: Tensors, frame: Frame, place: int) -> Tensor | None:
    """What `ctx.saved_tensors` has at one place, in a frame of a method of the function."""
    cls = frame.scope.parent
    forward = next((one for one in cls.children if one.name == "forward"), None) if cls is not None else None
    saving = [call for call, _ in forward.calls if _saves(call)] if forward is not None else []
    if forward is None or len(saving) != 1:
        return None
    given = saving[0].args
    if not 0 <= place < len(given) or any(arg.star for arg in given):
        return None
    return tensors.of(given[place].value, frame_without_callers(tensors.ev, frame.facts, forward))


def _saves(call: tree.Call) -> bool:
    return isinstance(call.func, tree.Attribute) and call.func.attr == "save_for_backward"


def applications(ev: Evaluator, facts: ModuleFacts, forward: Scope) -> Iterator[tuple[tree.Call, Frame]]:
    """The calls of `apply` of the class in which a `forward` is, each with a frame in which it runs."""
    cls = forward.parent
    if cls is None or not isinstance(cls.node, tree.ClassDef):
        return
    for caller, scope, call, _ in calls_named(ev, facts, "apply"):
        frame = frame_without_callers(ev, caller, scope)
        match call.func:
            case tree.Attribute(value=owner):
                if any(isinstance(value, ClassValue) and value.node is cls.node for value in ev.values(owner, frame)):
                    yield call, frame
