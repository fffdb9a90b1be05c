"""Names of one object: after `alias = files`, what is done to the object under one name shows under the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Binding, Scope

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["aliases_in", "aliases_of", "shares_object"]


def aliases_of(ev: Evaluator, scope: Scope, name: str) -> tuple[str, ...]:
    """The other names that a scope has for the object of a name; the scope is gone through once."""
    unknown: Mapping[str, tuple[str, ...]] = {}
    return ev.remembered(("aliases", id(scope)), lambda: aliases_in(scope), unknown).get(name, ())


def aliases_in(scope: Scope) -> Mapping[str, tuple[str, ...]]:
    """For each name of a scope that has them: the other names of its object, in the order of the text.

    A name counts that is bound once, and by an assignment that is in no loop: what it names does not change then.
    """
    groups: dict[str, list[str]] = {}
    for name, bindings in scope.bindings.items():
        original = _original(scope, bindings)
        if original is not None:
            group = groups.setdefault(original, [original])
            for other in groups.pop(name, [name]) if name != original else ():
                if other not in group:
                    group.append(other)
                groups[other] = group
            groups[name] = group
    return {name: tuple(other for other in group if other != name) for name, group in groups.items()}


def _original(scope: Scope, bindings: Sequence[Binding]) -> str | None:
    """The name whose object a name gets by its only binding."""
    match bindings:
        case [Binding(kind="assign", node=tree.Name(id=original), unpack=(), scope=None, path=path)]:
            in_loop = any(branch in scope.loops for branch, _ in path)
            return original if not in_loop and len(scope.bindings.get(original, ())) == 1 else None
    return None


def shares_object(scope: Scope, name: str, other: str, site: int) -> bool:
    """Whether two names of one object were both bound before a place."""
    return all(binding.order < site for one in (name, other) for binding in scope.bindings[one])
