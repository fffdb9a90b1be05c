"""Weights of a model that a `load_state_dict` may leave as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["leaves_some_out"]


def leaves_some_out(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether weights of the model may stay as they are, with `strict=False`: some are taken out of those to load, or
    these are chosen or written out one by one. Without any of that, what is not strict about it is that there are more.
    """
    strict = next((arg.value for arg in call.args if arg.keyword == "strict"), None)
    if strict is None and len(call.args) > 1 and call.args[1].keyword is None:
        strict = call.args[1].value
    if strict is None or (isinstance(strict, tree.Const) and strict.value is True) or not call.args:
        return False
    weights = call.args[0].value
    if not isinstance(weights, tree.Name):
        return _is_choice(weights)
    if any(binding.kind == "assign" and _is_choice(binding.node) for binding in scope.bindings.get(weights.id, ())):
        return True
    if any(touch.method in ("pop", "popitem", "clear") for touch in scope.touches(weights.id)):
        return True
    parents = parents_of(program.ev, facts)
    return any(isinstance(parents.statement(name), tree.Delete) for name in parents.names.get(weights.id, ()))


def _is_choice(node: object) -> bool:
    match node:
        case tree.DictDisplay():
            return True
        case tree.Comprehension(clauses=clauses):
            return any(clause.conditions for clause in clauses)
    return False
