"""What a method that has assigned an attribute of its object reads there later on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts.scopes import Binding
from torchrepro_lint.program.evaluation.changes import after_changes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.method_changes import with_called_changes
from torchrepro_lint.program.evaluation.names import binding_values
from torchrepro_lint.program.evaluation.values import NOTHING, Values, union

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["assigned_before"]


def assigned_before(ev: Evaluator, attr: str, site: int, frame: Frame) -> Values:
    """What `self.attr` can be at a place of a method that may have assigned it before; nothing where it has not.

    A list or dict has what the method itself, and those that it has called, have put into it since.
    """
    local, certain = frame.scope.reaching(f"self.{attr}", site, lambda path: ev.decide(path, frame))
    found = union(*(_assigned(ev, attr, binding, site, frame) for binding in local)) if local else NOTHING
    return union(found, ev.instances_attribute(frame.receiver(), attr)) if local and not certain else found


def _assigned(ev: Evaluator, attr: str, binding: Binding, site: int, frame: Frame) -> Values:
    values = binding_values(ev, binding, frame)
    if binding.kind != "assign" or binding.unpack:
        return values
    values = after_changes(ev, f"{frame.scope.self_name}.{attr}", values, binding, site, frame)
    return with_called_changes(ev, values, attr, binding.order, site, frame)
