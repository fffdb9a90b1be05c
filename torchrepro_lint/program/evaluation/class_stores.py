"""What is assigned to an attribute of a class outside of its body: `cls.seed = seed`, `Permutation.seed = 1`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.classes import decorator_name, mro
from torchrepro_lint.program.evaluation.containers import unpack
from torchrepro_lint.program.evaluation.frames import enclosing_frame
from torchrepro_lint.program.evaluation.names import binding_values
from torchrepro_lint.program.evaluation.outside_stores import outside_stores
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    FunctionValue,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["assigned_to_class"]


def assigned_to_class(ev: Evaluator, cls: ClassValue, attr: str) -> Values:
    """What class methods assign to `cls.attr`, and what the file of the class assigns to `Name.attr`."""
    return ev.remembered(("class-stores", cls, attr), lambda: _assigned(ev, cls, attr), NOTHING, unknown())


def _assigned(ev: Evaluator, cls: ClassValue, attr: str) -> Values:
    parts: list[Values] = []
    for base in mro(ev, cls):
        if isinstance(base, ClassValue):
            parts.extend(_by_class_methods(ev, base, cls, attr))
            parts.extend(_by_name(ev, base, attr))
    return union(*parts) if parts else NOTHING


def _by_class_methods(ev: Evaluator, base: ClassValue, receiver: ClassValue, attr: str) -> Iterator[Values]:
    key = f"self.{attr}"  # by whatever name the first parameter goes
    class_frame = ev.class_frame(base)
    for scope in class_frame.scope.children:
        node = scope.node
        if key not in scope.bindings or not isinstance(node, tree.FunctionDef):
            continue
        if not any(decorator_name(decorator) == "classmethod" for decorator in node.decorators):
            continue
        frame = bound_frame(ev, FunctionValue(node, class_frame), Arguments((values_of(receiver),), (), True, True))
        bindings, _ = scope.reaching(key, END, lambda path, at=frame: ev.decide(path, at))  # type: ignore[misc]
        yield from (binding_values(ev, binding, frame) for binding in bindings)


def _by_name(ev: Evaluator, cls: ClassValue, attr: str) -> Iterator[Values]:
    facts = cls.frame.facts
    for scope, store in outside_stores(ev, facts).get(attr, ()):
        frame = enclosing_frame(ev, facts, scope)
        assert isinstance(store.target, tree.Attribute)
        if any(isinstance(one, ClassValue) and one.node is cls.node for one in ev.values(store.target.value, frame)):
            yield unpack(ev, ev.values(store.value, frame), store.unpack)
