"""The classes that have an attribute from a base: it lists the files, and the data set below it reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.attributes import mro
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["inheriting"]


def inheriting(
    program: Program, facts: ModuleFacts, own: tree.ClassDef, target: tree.Attribute | tree.FunctionDef
) -> Iterator[list[tuple[ModuleFacts, tree.ClassDef]]]:
    """The classes of the project that derive from a class and leave alone what its `target` gives to an attribute: they
    neither assign it themselves nor replace the method that does. Each with its file, and followed by its bases up to
    that class.
    """
    parents = parents_of(program.ev, facts)
    if parents.of(own) is not None:
        return
    if isinstance(target, tree.FunctionDef):
        attr, method = target.name, None
    else:
        function = parents.function(target)
        attr, method = target.attr, function.name if isinstance(function, tree.FunctionDef) else None
    for derived in program.ev.subclasses(ClassValue(own, program.ev.module_frame(facts))):
        between: list[ClassValue] = []
        for base in mro(program.ev, derived):
            if isinstance(base, ClassValue):
                if base.node is own:
                    break
                between.append(base)
        if not any(_gives_another(program, cls, attr, method) for cls in between):
            yield [(cls.frame.facts, cls.node) for cls in between]


def _gives_another(program: Program, cls: ClassValue, attr: str, method: str | None) -> bool:
    """Whether a class has its own value for an attribute, or its own method in the place of the one that gives it."""
    scope = program.ev.class_frame(cls).scope
    if attr in scope.bindings:
        return True
    for child in scope.children:
        if f"self.{attr}" in child.bindings:
            return True
        if isinstance(child.node, tree.FunctionDef) and child.node.name == method and not _calls_on(child, method):
            return True
    return False


def _calls_on(scope: Scope, method: str) -> bool:
    """Whether a method calls the one of a base that it stands for: `super().__init__()`, `Base.__init__(self)`."""
    for call, _ in scope.calls:
        match call.func:
            case tree.Attribute(value=owner, attr=attr) if attr == method:
                if not isinstance(owner, tree.Name) or owner.id != scope.self_name:
                    return True
    return False
