"""Draws that make the first weights of a model, of which nothing is left once trained ones take their place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.classes import external_bases, has_unknown_base
from torchrepro_lint.program.evaluation.values import ClassValue, Site
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["are_loaded_over", "brings_weights", "built_at", "draws_weights"]

_INITIALISES = re.compile(
    r"__init__|reset_parameters|\w*init\w*weights?\w*|\w*weights?_init\w*|\w*init\w*param\w*|build"
)
#: The arguments of torchvision's models that bring trained weights.
_GIVEN_WEIGHTS = ("pretrained", "weights")


def draws_weights(event: Event) -> bool:
    """Whether a draw makes the first weights of a model."""
    if function_words("builds_weights").match(event.name):
        return True
    scope = event.frame.scope if event.frame is not None else None
    return scope is not None and event.name.startswith("torch.") and _INITIALISES.fullmatch(scope.name) is not None


def brings_weights(event: Event) -> bool:
    """Whether a model of a library gets trained weights, so that nothing of its first ones is left."""
    if not event.name.startswith("torchvision."):
        return False
    return bool(event.arguments.positional) or any(event.arguments.keyword(name) is not None for name in _GIVEN_WEIGHTS)


def built_at(program: Program, event: Event) -> Site:
    """Where to speak of a draw: for the weights of a model of the project, where that is built."""
    if draws_weights(event):
        for link, inner in zip(event.chain, event.chain[1:], strict=False):
            if (
                inner.note.endswith(".__init__")
                and link.note.startswith("calls ")
                and _is_of_module(program, inner.site)
            ):
                return link.site
    return event.site


def _is_of_module(program: Program, site: Site) -> bool:
    """Whether a constructor is of a model, as far as its class can be followed, and not of what holds one."""
    facts = program.facts(site.path)
    for scope in facts.walk_scopes() if facts is not None else ():
        if scope.node is not None and scope.node.site == site.number and facts is not None:
            around = scope.parent
            outer = around.parent if around is not None else None
            if around is None or outer is None or not isinstance(around.node, tree.ClassDef):
                return False
            cls = ClassValue(around.node, frame_without_callers(program.ev, facts, outer))
            bases = external_bases(program.ev, cls)
            return has_unknown_base(program.ev, cls) or any(function_words("is_a_model").match(one) for one in bases)
    return False


def are_loaded_over(program: Program, event: Event) -> bool:
    """Whether the function that builds the model surely loads other weights into all of it afterwards:
    `model = Net()`, `model.load_state_dict(...)`.
    """
    site = built_at(program, event)
    return program.once(("loaded over", site), lambda: _is_loaded_over(program, site))


def _is_loaded_over(program: Program, site: Site) -> bool:
    facts = program.facts(site.path)
    if facts is None:
        return False
    for scope in facts.walk_scopes():
        for call, path in scope.calls:
            if call.site == site.number:
                names = {*scope.given_to(call)}
                return any(
                    later.site > call.site and set(arms) <= set(path) and _loads_all(later, names, scope)
                    for later, arms in scope.calls
                )
    return False


def _loads_all(call: tree.Call, names: set[str], scope: Scope) -> bool:
    match call.func:
        case tree.Attribute(attr="load_state_dict", value=owner):
            written = dotted_name(owner) or ""
            name = written.removeprefix(f"{scope.self_name}.") if scope.self_name is not None else written
            strict = call.args[1].value if len(call.args) > 1 and call.args[1].keyword is None else None
            strict = next((arg.value for arg in call.args if arg.keyword == "strict"), strict)
            return name in names and (strict is None or (isinstance(strict, tree.Const) and strict.value is True))
    return False
