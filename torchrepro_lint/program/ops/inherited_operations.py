"""Operations that a class of the project inherits from one of a library: `class Conv(MessagePassing)`. They stand where
the base gets its arguments, `super().__init__(aggr="add")`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ops import op_rows
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.classes_around import class_of_method

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["base_pattern", "inherited_operation", "initialises_a_base"]


@cache
def base_pattern(names: frozenset[str]) -> re.Pattern[bytes]:
    """What a file says that derives a class from one of these classes."""
    words = "|".join(sorted(map(re.escape, names)))
    return re.compile(rf"\bclass\s+\w+\s*\([^)]*\b(?:{words})\b".encode())


def initialises_a_base(call: tree.Call, scope: Scope, names: Set[str]) -> bool:
    """Whether a call in a constructor passes arguments to the bases of its class, one of which has such a name."""
    return _is_super_init(call, scope) and not names.isdisjoint(called_name(base) or "" for base in _bases(scope))


def _is_super_init(call: tree.Call, scope: Scope) -> bool:
    """`super().__init__(...)` in a constructor."""
    match call.func:
        case tree.Attribute(value=tree.Call(func=tree.Name(id="super")), attr="__init__"):
            return scope.name == "__init__"
    return False


def inherited_operation(ev: Evaluator, call: tree.Call, frame: Frame) -> str | None:
    """The operation of a library of which the class around a constructor is a special case; None where its own methods
    take the place of those that run it.
    """
    around, cls = frame.scope.parent, class_of_method(ev, frame.facts, frame.scope)
    if around is None or cls is None or not _is_super_init(call, frame.scope):
        return None
    for base in _bases(frame.scope):
        for value in ordered(ev.values(base, cls.frame)):
            name = canonical(value.name) if isinstance(value, External) else ""
            if op_rows(name) and _runs_the_base(around):
                return name
    return None


def _bases(scope: Scope) -> Iterator[tree.Expr]:
    node = scope.parent.node if scope.parent is not None else None
    if isinstance(node, tree.ClassDef):
        yield from (base.value for base in node.bases if base.keyword is None and not base.star)


def _runs_the_base(cls: Scope) -> bool:
    """Whether the methods of a class leave the operation to its base: they hide none of those that make it, or call
    them (`self.propagate(...)`, `super().forward(x)`).
    """
    methods = {child.name: child for child in cls.children}
    if not methods.keys().isdisjoint(method_words("runs_the_operation", "instead")):
        return False
    if "forward" not in methods:
        return True
    runs = method_words("runs_the_operation")
    return any(
        isinstance(call.func, tree.Attribute) and call.func.attr in runs
        for child in methods.values()
        for call, _ in child.calls
    )
