"""Loops over the saved models of a training, which are evaluated one after the other and not trained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.program.evaluation.values import External, FunctionValue, MethodValue, Value
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.epochs import takes_steps

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame

__all__ = ["goes_through_saved_models", "loads_in_calls"]

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
    reads = [call for call in direct if _reads_a_file(ev, call, frame)]
    made = _bound_in(scope, body)
    given = [arg.value for call in reads for arg in call.args]
    targets = _names([loop.target]) if isinstance(loop, tree.For) else set()
    return bool(reads) and (_mention(made, loaded) or _mention(targets, given))


def loads_in_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope, loop: tree.For | tree.While) -> bool:
    """Whether a turn of a loop calls a function of the project that reads weights from a file, for what the turn makes
    or from a file of its own: `for path in paths: agents = [Agent()]; ...; agent.load(path)`.
    """
    body = (loop.site, "body")
    frame = frame_without_callers(ev, facts, scope)
    own = _bound_in(scope, body) | (_names([loop.target]) if isinstance(loop, tree.For) else set())
    return any(
        _mention(own, (call.func, *(arg.value for arg in call.args)))
        and any(_reads_weights(ev, value) for value in ev.values(call.func, frame))
        for call, path in scope.calls
        if body in path
    )


def _reads_weights(ev: Evaluator, value: Value) -> bool:
    """Whether a function itself reads weights from a file and gives them to a model."""
    function = value.function if isinstance(value, MethodValue) else value
    if not isinstance(function, FunctionValue):
        return False
    scope = ev.function_scope(function)
    calls = [call for call, _ in scope.calls]
    if not any(isinstance(call.func, tree.Attribute) and call.func.attr == "load_state_dict" for call in calls):
        return False
    frame = frame_without_callers(ev, function.frame.facts, scope)
    return any(_reads_a_file(ev, call, frame) for call in calls)


def _reads_a_file(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a call reads weights from a file."""
    return any(isinstance(one, External) and one.name in _READS_WEIGHTS for one in ev.values(call.func, frame))


def _bound_in(scope: Scope, body: tuple[int, str]) -> set[str]:
    return {name for name, bindings in scope.bindings.items() if any(body in binding.path for binding in bindings)}


def _mention(names: set[str], nodes: Iterable[tree.Expr]) -> bool:
    return not names.isdisjoint(_names(nodes))


def _names(nodes: Iterable[tree.Expr]) -> set[str]:
    return {part.id for part in walk(nodes) if isinstance(part, tree.Name)}
