"""Whether a run reaches a place once, and not for each sample, trial or object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.calling_places import calling_places, making_places
from torchrepro_lint.program.running.classes_around import class_of_method

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.running.call_index import NamedCall

__all__ = ["runs_once"]

_MAX_DEPTH = 4


def runs_once(ev: Evaluator, facts: ModuleFacts, scope: Scope, site: int, depth: int = _MAX_DEPTH) -> bool:
    """Whether a place is in no loop, and either in the module's own code, or in a function that a single such place
    calls, or in the `__init__` of a class of which one makes an object. Up to `depth` calls lie between it and the
    module.
    """
    if any(branch in scope.loops for branch, _ in scope.path_at(site)):
        return False
    if scope.parent is None:
        return True
    if isinstance(scope.node, tree.ClassDef):
        return runs_once(ev, facts, scope.parent, scope.node.site, depth)
    if not isinstance(scope.node, tree.FunctionDef) or depth == 0:
        return False
    places = _places(ev, facts, scope)
    return len(places) == 1 and runs_once(ev, places[0].facts, places[0].scope, places[0].call.site, depth - 1)


def _places(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> tuple[NamedCall, ...]:
    """What calls a function, and for an `__init__` what makes the objects."""
    cls = class_of_method(ev, facts, scope) if scope.name == "__init__" else None
    return making_places(ev, cls) if cls is not None else calling_places(ev, facts, scope)
