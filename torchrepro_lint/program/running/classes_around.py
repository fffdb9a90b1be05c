"""The class in whose body a function is defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.running.callers import frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["class_of_method"]


def class_of_method(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> ClassValue | None:
    """The class directly around the scope of a method, as no caller in particular sees it; None for another scope."""
    around = scope.parent
    if around is None or not isinstance(around.node, tree.ClassDef) or around.parent is None:
        return None
    return ClassValue(around.node, frame_without_callers(ev, facts, around.parent))
