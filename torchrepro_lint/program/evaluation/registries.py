"""Registries of libraries (fvcore's, mmengine's, ...): what the project has registered in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import uncalled
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    ClassValue,
    ExternalObject,
    FunctionValue,
    MemberOf,
    Value,
    Values,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame

__all__ = ["is_registered", "is_registry", "registered"]


def is_registry(value: ExternalObject) -> bool:
    """Whether the object is of a library's registry class; these are called `Registry` everywhere."""
    return last_part(value.name) == "Registry"


def registered(ev: Evaluator, registry: ExternalObject) -> Values:
    """The classes and functions that are under `@registry.register...` anywhere in the project."""
    return ev.remembered(("registered", registry), lambda: frozenset(_registered(ev, registry)), NOTHING)


def _registered(ev: Evaluator, registry: ExternalObject) -> Iterator[Value]:
    for word in ("register", "register_module"):
        for path in ev.project.containing(word):
            facts = ev.project.facts(path)
            if facts is None:
                continue
            frame = ev.module_frame(facts)
            for statement in facts.body:
                if isinstance(statement, (tree.ClassDef, tree.FunctionDef)):
                    for decorator in statement.decorators:
                        if any(_registers(value, registry) for value in ev.values(uncalled(decorator), frame)):
                            if isinstance(statement, tree.ClassDef):
                                yield ClassValue(statement, frame)
                            else:
                                yield FunctionValue(statement, frame)


def is_registered(ev: Evaluator, statement: tree.ClassDef, frame: Frame) -> bool:
    """Whether a decorator puts a class into a registry of a library."""
    found = (value for decorator in statement.decorators for value in ev.values(uncalled(decorator), frame))
    return any(
        isinstance(one, MemberOf)
        and isinstance(one.receiver, ExternalObject)
        and is_registry(one.receiver)
        and _registers(one, one.receiver)
        for one in found
    )


def _registers(value: Value, registry: ExternalObject) -> bool:
    return isinstance(value, MemberOf) and value.attr.startswith("register") and value.receiver == registry
