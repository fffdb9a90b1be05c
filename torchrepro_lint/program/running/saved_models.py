"""Loops over the saved models of a training, which are evaluated one after the other and not trained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.epochs import takes_steps

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["goes_through_saved_models"]

_READS_WEIGHTS = frozenset({"torch.load", "safetensors.torch.load_file"})


def goes_through_saved_models(ev: Evaluator, facts: ModuleFacts, scope: Scope, loop: tree.For | tree.While) -> bool:
    """Whether each turn of a loop reads weights from a file, for a model that it makes or from a file of its own, and
    takes no step of an optimizer.
    """
    body = (loop.site, "body")
    direct = [call for call, path in scope.calls if path and path[-1] == body]
    loaded = [
        call.func.value
        for call in direct
        if isinstance(call.func, tree.Attribute) and call.func.attr == "load_state_dict"
    ]
    if not loaded or takes_steps(scope, loop.site):
        return False
    frame = frame_without_callers(ev, facts, scope)
    reads = [
        call
        for call in direct
        if any(isinstance(value, External) and value.name in _READS_WEIGHTS for value in ev.values(call.func, frame))
    ]
    made = {name for name, bindings in scope.bindings.items() if any(body in binding.path for binding in bindings)}
    given = [arg.value for call in reads for arg in call.args]
    targets = _names([loop.target]) if isinstance(loop, tree.For) else set()
    return bool(reads) and (_mention(made, loaded) or _mention(targets, given))


def _mention(names: set[str], nodes: Iterable[tree.Expr]) -> bool:
    return not names.isdisjoint(_names(nodes))


def _names(nodes: Iterable[tree.Expr]) -> set[str]:
    return {part.id for part in walk(nodes) if isinstance(part, tree.Name)}
