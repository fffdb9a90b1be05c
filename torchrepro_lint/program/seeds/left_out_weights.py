"""Weights of a model that a `load_state_dict` may leave as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope, Touch
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["leaves_some_out"]

_COPIES = frozenset({"copy", "deepcopy", "dict", "OrderedDict"})


def leaves_some_out(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether weights of the model may stay as they are: those to load are its own, of which some or none get others;
    or, with `strict=False`, some are taken out of them, or they are chosen or written out one by one. Without any of
    that, what is not strict about it is that there are more.
    """
    if not call.args:
        return False
    weights = call.args[0].value
    if _are_its_own(scope, call, weights):
        name = dotted_name(weights)
        return name is None or not any(_gives_all(program, facts, scope, touch) for touch in scope.touches(name))
    strict = next((arg.value for arg in call.args if arg.keyword == "strict"), None)
    if strict is None and len(call.args) > 1 and call.args[1].keyword is None:
        strict = call.args[1].value
    if strict is None or (isinstance(strict, tree.Const) and strict.value is True):
        return False
    return _are_chosen(program, facts, scope, weights)


def _are_its_own(scope: Scope, call: tree.Call, weights: tree.Expr) -> bool:
    """Whether weights are the `state_dict()` of the model into which a call loads them, or a copy of that."""
    match scope.behind(weights):
        case tree.Call(func=tree.Attribute(attr="state_dict", value=owner)) if isinstance(call.func, tree.Attribute):
            return dotted_name(owner) == dotted_name(call.func.value) is not None
        case tree.Call(func=tree.Attribute(attr="copy", value=copied), args=()):
            return _are_its_own(scope, call, copied)
        case tree.Call(func=func, args=(tree.Arg(value=copied, keyword=None),)) if called_name(func) in _COPIES:
            return _are_its_own(scope, call, copied)
    return False


def _gives_all(program: Program, facts: ModuleFacts, scope: Scope, touch: Touch) -> bool:
    """Whether what is done to a model's own weights puts others in the place of all of them, as far as one can see."""
    if touch.method == "":
        return not any(arm[0] not in scope.loops and arm[1] in ("then", "else") for arm in touch.path)
    if touch.method != "update" or not isinstance(touch.made, tree.Call) or not touch.made.args:
        return False
    return not _are_chosen(program, facts, scope, touch.made.args[0].value)


def _are_chosen(program: Program, facts: ModuleFacts, scope: Scope, weights: tree.Expr) -> bool:
    """Whether weights are some of those that were there: written out or picked out, or some were taken out of them."""
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
