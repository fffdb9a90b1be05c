"""Whether a call trains: by itself, or by what it calls in the project."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import FunctionValue, MethodValue
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.entry_walk import training_steps

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["may_train"]

_MAX_DEPTH = 4


def may_train(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call, depth: int = 0) -> bool:
    """Whether a call takes the steps of a training, as far as the functions that it calls can be followed."""
    if called_name(call.func) in training_steps():
        return True
    if depth == _MAX_DEPTH:
        return False
    for value in program.ev.values(call.func, frame_without_callers(program.ev, facts, scope)):
        function = value.function if isinstance(value, MethodValue) else value
        if isinstance(function, FunctionValue):
            key = ("may train", function.frame.facts.path, function.node.site, depth)
            if program.once(key, partial(_has_training, program, function, depth + 1)):
                return True
    return False


def _has_training(program: Program, function: FunctionValue, depth: int) -> bool:
    scope, facts = program.ev.function_scope(function), function.frame.facts
    return any(may_train(program, facts, scope, call, depth) for call, _ in scope.calls)
