"""Why a call could not be followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import UNKNOWN
from torchrepro_lint.program.running.reach import Event, shown

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["reason"]


def reason(ev: Evaluator, event: Event) -> str:
    """A few words on the first thing in the call's callee that is unknown."""
    if event.call is None or event.frame is None:
        return "what is called is not known"
    return _reason(ev, event.call.func, event.frame)


def _reason(ev: Evaluator, node: tree.Expr, frame: Frame) -> str:
    match node:
        case tree.Attribute(value=owner, attr=attr):
            values = ev.values(owner, frame)
            if UNKNOWN in values or not values:
                return _reason(ev, owner, frame)
            if UNKNOWN in ev.values(node, frame):
                return f"what {shown(node)} can be is not known"
            return f"nothing in sight gives {shown(owner)} its attribute {attr}"
        case tree.Name(id=name):
            return _of_name(name, frame.scope)
        case tree.Call(func=func):
            return f"what {shown(func)} gives is not known"
        case tree.Subscript(value=owner):
            return f"what {shown(owner)} holds is not known"
    return "what is called is not known"


def _of_name(name: str, scope: Scope) -> str:
    current: Scope | None = scope
    while current is not None:
        bindings = current.bindings.get(name)
        if bindings:
            match bindings[-1].kind:
                case "param":
                    return f"no call in sight gives the parameter {name} a value that is known"
                case "import" | "import-from":
                    return f"{name} is imported from a place that is not in the project"
                case "element":
                    return f"what {name} goes through is not known"
            return f"the value of {name} is not known"
        current = current.parent
    return f"{name} is bound nowhere in sight"
