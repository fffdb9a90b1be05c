"""Functions of the project that a framework calls: in each epoch or step, so that their bodies are the bodies of its
loops, or of an object that it makes itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.knowledge.training_hooks import events_of, handed_to, hooks_of
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ClassValue, External
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_digest, targets_below

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "is_called_out_of_sight",
    "is_made_out_of_sight",
    "is_meant_by_a_target",
    "is_named_by_a_configuration",
    "is_training_hook",
]


def is_training_hook(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether the function of a scope is such a method, is under such a decorator, or is handed to such a call."""
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
    return _is_handed_over(ev, around, outer, node.name)


def _is_handed_over(ev: Evaluator, around: Scope, outer: Frame, name: str) -> bool:
    """Whether the scope around a function hands it to a framework that calls it again and again:
    `start_simulation(client_fn=make_client)`.
    """
    for call, _ in around.calls:
        for arg in call.args:
            if isinstance(arg.value, tree.Name) and arg.value.id == name and arg.keyword is not None:
                calls = handed_to(arg.keyword)
                functions = ev.values(call.func, outer) if calls else ()
                if any(isinstance(one, External) and canonical(one.name) in calls for one in functions):
                    return True
    return False


def is_made_out_of_sight(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a scope is a method of a class of which something out of sight makes the objects: a configuration names
    it (`_target_: src.data.Images`), or it derives from a framework's class and nothing in the project makes one. The
    program may be any of the project's then, and what a configuration names is made as often as that says.
    """
    cls = scope.parent
    if cls is None or not isinstance(cls.node, tree.ClassDef) or cls.parent is None:
        return False
    if cls.parent is facts.scope and is_named_by_a_configuration(ev, facts, cls.name):
        return True
    value = ClassValue(cls.node, frame_without_callers(ev, facts, cls.parent))
    return any(base not in plain_classes() for base in external_bases(ev, value)) and not making_places(ev, value)


def is_called_out_of_sight(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a scope is a function that a configuration names, or a method as `is_made_out_of_sight` says."""
    if scope.parent is facts.scope and isinstance(scope.node, tree.FunctionDef):
        return is_named_by_a_configuration(ev, facts, scope.name)
    return is_made_out_of_sight(ev, facts, scope)


def is_named_by_a_configuration(ev: Evaluator, facts: ModuleFacts, name: str) -> bool:
    """Whether a YAML file of the project says that what has this name at the top of a file is to be made or called."""
    nothing: frozenset[str] = frozenset()
    targets = ev.of_project("named-by-configurations", lambda: _targets(ev), nothing)
    return any(is_meant_by_a_target(facts.path, name, dotted) for dotted in targets)


def is_meant_by_a_target(path: Path, name: str, dotted: str) -> bool:
    """Whether a dotted name in a configuration, such as `src.data.Images`, is what has a name at the top of a file, by
    the name of its module or its package.
    """
    module = path.parent.name if path.stem == "__init__" else path.stem
    return dotted.split(".")[-2:] in ([module, name], [path.parent.name, name])


def _targets(ev: Evaluator) -> frozenset[str]:
    # What is found depends on files that are no Python.
    ev.project.outside[ALL_CONFIGURATIONS] = configurations_digest(ev.project.root)
    return targets_below(ev.project.root)
