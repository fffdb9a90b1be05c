"""Functions of the project that a framework calls: in each epoch or step, so that their bodies are the bodies of its
loops, or of an object that it makes itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.knowledge.training_hooks import events_of, hooks_of
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import ClassValue, External
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import calling_places, making_places

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_called_out_of_sight", "is_made_out_of_sight", "is_training_hook"]

_MAKES_WHAT_IS_NAMED = re.compile(rb"\binstantiate|\b_target_\b|\bget_obj_from_str\b")


def is_training_hook(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether the function of a scope is such a method, or is under such a decorator."""
    node, around = scope.node, scope.parent
    if not isinstance(node, tree.FunctionDef) or around is None:
        return False
    outer = frame_without_callers(ev, facts, around)
    if isinstance(around.node, tree.ClassDef) and outer.parent is not None:
        bases = external_bases(ev, ClassValue(around.node, outer.parent))
        return any(node.name in hooks_of(canonical(base)) for base in bases)
    for decorator in node.decorators:
        match decorator:
            case tree.Call(func=tree.Attribute(attr=attr), args=args) if events_of(attr):
                given = [value for arg in args for value in ev.values(arg.value, outer)]
                if any(isinstance(value, External) and canonical(value.name) in events_of(attr) for value in given):
                    return True
    return False


def is_made_out_of_sight(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a scope is a method of a class of which nothing in the project makes an object, though something out of
    sight does: a framework, whose class it derives from, or a configuration that names it (`_target_:
    src.data.Images`), for a program that may be any of the project's, as often and with whatever it says.
    """
    cls = scope.parent
    if cls is None or not isinstance(cls.node, tree.ClassDef) or cls.parent is None:
        return False
    value = ClassValue(cls.node, frame_without_callers(ev, facts, cls.parent))
    if not _follows_configurations(ev) and all(base in plain_classes() for base in external_bases(ev, value)):
        return False
    return not making_places(ev, value)


def is_called_out_of_sight(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a scope is a function that nothing calls, in a project that makes what its configurations name, or a
    method as `is_made_out_of_sight` says.
    """
    if scope.parent is facts.scope and isinstance(scope.node, tree.FunctionDef):
        return _follows_configurations(ev) and not calling_places(ev, facts, scope)
    return is_made_out_of_sight(ev, facts, scope)


def _follows_configurations(ev: Evaluator) -> bool:
    """Whether a file of the project makes what a configuration names: Hydra does, and helpers that are called alike."""
    return ev.of_project("follows-configurations", lambda: bool(ev.project.matching(_MAKES_WHAT_IS_NAMED)), False)
