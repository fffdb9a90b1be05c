"""What is put into the lists and dicts that a class holds: `cls.registry[name] = klass`, `Base.parts.append(part)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.program.evaluation.changes import changes_of, with_changes
from torchrepro_lint.program.evaluation.classes import class_attribute, mro
from torchrepro_lint.program.evaluation.joining import joined, opened
from torchrepro_lint.program.evaluation.method_changes import functions_in
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    DictValue,
    SequenceValue,
    Values,
    unknown,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["with_class_changes"]


def with_class_changes(ev: Evaluator, cls: ClassValue, attr: str, values: Values) -> Values:
    """The lists and dicts among what a class attribute is, with what the file of the class puts into them."""
    if not any(isinstance(value, (DictValue, SequenceValue)) for value in values):
        return values
    bases = (base for base in mro(ev, cls) if isinstance(base, ClassValue))
    owner = next((base for base in bases if class_attribute(ev, base, attr)), None)
    if owner is None:
        return values
    return ev.remembered(("class-changes", owner, attr), lambda: _changed(ev, owner, attr, values), values, unknown())


def _changed(ev: Evaluator, owner: ClassValue, attr: str, values: Values) -> Values:
    facts = owner.frame.facts
    for scope, name in _scopes(ev, owner):
        target = f"{name}.{attr}"
        if not changes_of(ev, scope, target):
            continue
        after = [with_changes(ev, values, frame, -1, END, target) for frame in ev.contexts(facts, scope)]
        values = joined(values, *(opened(value) for changed in after for value in changed))
    return values


def _scopes(ev: Evaluator, owner: ClassValue) -> Iterator[tuple[Scope, str]]:
    """The scopes that can change it, each with a name that the class, or an object of it, has there."""
    for method in ev.class_frame(owner).scope.children:
        if method.self_name is not None:
            yield from ((scope, method.self_name) for scope in functions_in(method))
    for scope in owner.frame.facts.walk_scopes():
        yield scope, owner.name
