"""The seed that a function could take from what its callers hand to it: `args.seed`, which only another file reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.facts.tree import FunctionDef
from torchrepro_lint.fixes.documents import document_of, function_of
from torchrepro_lint.fixes.seed_expression import HandedSeed, config_seed, is_configuration
from torchrepro_lint.program.running.callers import visible_calls

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["handed_seeds"]

_MAX_CALLERS = 3


def handed_seeds(program: Program, facts: ModuleFacts, scope: Scope) -> tuple[HandedSeed, ...]:
    """The seeds that the parameters of the function around `scope` bring along, where all visible callers agree.

    A caller says so by reading the attribute of the same name that it passes: `set_seed(args.seed)` and `build(args)`.
    """
    function = function_of(scope)
    if function is None:
        return ()
    names = [param.name for param in _definition(function).params if param.kind in ("positional", "keyword")]
    found = (_handed(program, facts, function, name, 0) for name in names if name != "self" and is_configuration(name))
    return tuple(seed for seed in found if seed is not None)


def _handed(program: Program, facts: ModuleFacts, function: Scope, name: str, depth: int) -> HandedSeed | None:
    calls = visible_calls(program.ev, facts, function)
    answers: set[HandedSeed | None] = set()
    for call, frame in calls:
        document = document_of(program, frame.facts.path)
        node = document.node_at(*program.parsed(frame.facts.path).span(call.site), cst.Call)
        given = _argument(function, node, name) if node is not None else None
        if node is None or not isinstance(given, cst.Name) or not is_configuration(given.value):
            return None
        answer = config_seed(document, given.value, document.statement(node))
        outer = function_of(frame.scope)
        if answer is None and outer is not None and depth < _MAX_CALLERS:
            if any(param.name == given.value for param in _definition(outer).params):
                answer = _handed(program, frame.facts, outer, given.value, depth + 1)
        answers.add(answer.under(name) if answer is not None else None)
    return answers.pop() if len(answers) == 1 else None


def _argument(function: Scope, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """What a call of the function hands to one of its parameters, as far as the call says so."""
    if any(argument.star for argument in call.args):
        return None
    params: Sequence[str] = [param.name for param in _definition(function).params]
    if params[:1] == ["self"]:
        params = params[1:]
    for index, argument in enumerate(call.args):
        if (argument.keyword.value if argument.keyword else params[index] if index < len(params) else None) == name:
            return argument.value
    return None


def _definition(function: Scope) -> FunctionDef:
    assert isinstance(function.node, FunctionDef)
    return function.node
