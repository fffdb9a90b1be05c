"""Functions that are used as decorators: above what, and what they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    FunctionValue,
    MethodValue,
    Partial,
    Value,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["decorator_uses", "is_function", "plain_definition"]


def is_function(value: Value, scope: Scope) -> bool:
    """Whether a value is the function of this scope, bound or with arguments given in advance."""
    match value:
        case FunctionValue(node=node):
            return node is scope.node
        case MethodValue(function=inner):
            return inner.node is scope.node
        case Partial(function=inner):
            return any(is_function(option, scope) for option in inner)
    return False


def decorator_uses(ev: Evaluator, scope: Scope) -> tuple[tuple[Value, Arguments], ...]:
    """The decorators above the project's functions and classes that can be this function, with what each is given.

    A nested one is looked for under the names of the functions around it too: `@register("name")` gives `decorator`.
    """
    return ev.remembered(("decorator-uses", id(scope)), lambda: tuple(_decorator_uses(ev, scope)), ())


def _decorator_uses(ev: Evaluator, scope: Scope) -> Iterator[tuple[Value, Arguments]]:
    names = []
    outer: Scope | None = scope
    while outer is not None:
        if isinstance(outer.node, tree.FunctionDef):
            names.append(outer.node.name)
        outer = outer.parent
    for name in names:
        for path in ev.project.decorating(name):
            user = ev.project.facts(path)
            if user is None:
                continue
            module = ev.module_frame(user)
            for statement in user.body:
                if not isinstance(statement, (tree.ClassDef, tree.FunctionDef)):
                    continue
                for decorator in statement.decorators:
                    if classes.decorator_name(decorator) != name:
                        continue
                    decorated = plain_definition(statement, module)
                    for value in ordered(ev.values(decorator, module)):
                        if is_function(value, scope):
                            yield value, Arguments((values_of(decorated),))


def plain_definition(statement: tree.ClassDef | tree.FunctionDef, frame: Frame) -> Value:
    """A class or function as it is before its decorators."""
    return ClassValue(statement, frame) if isinstance(statement, tree.ClassDef) else FunctionValue(statement, frame)
