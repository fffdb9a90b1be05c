"""Names of one object: after `alias = files`, what is done to the object under one name shows under the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Binding, Scope

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["aliases_in", "aliases_of", "shares_object"]


def aliases_of(ev: Evaluator, scope: Scope, name: str) -> tuple[str, ...]:
    """The other names that a scope has for the object of a name; the scope is gone through once."""
    return ev.of_text(("aliases", id(scope)), lambda: aliases_in(scope)).get(name, ())


def aliases_in(scope: Scope) -> Mapping[str, tuple[str, ...]]:
    """For each name of a scope that has them: the other names of its object, in the order of the text. An attribute of
    the object of a method is a name as well, `self.files`.

    A name counts that is bound once, and by an assignment that is in no loop: what it names does not change then. The
    name of a turn of `for part in (train, val)` is one for `train` and for `val`, and these are none for each other.
    """
    groups: dict[str, list[str]] = {}
    turns: dict[str, list[str]] = {}
    for name, bindings in scope.bindings.items():
        original = _original(scope, bindings)
        if original is not None:
            group = groups.setdefault(original, [original])
            for other in groups.pop(name, [name]) if name != original else ():
                if other not in group:
                    group.append(other)
                groups[other] = group
            groups[name] = group
        for element in _elements(scope, bindings):
            turns.setdefault(element, []).append(name)
    found = {name: [other for other in group if other != name] for name, group in groups.items()}
    for element, names in turns.items():
        for name in (element, *found.get(element, ())):
            found[name] = [*found.get(name, ()), *names]
    return {name: tuple(others) for name, others in found.items()}


def _original(scope: Scope, bindings: Sequence[Binding]) -> str | None:
    """The name whose object a name gets by its only binding."""
    match bindings:
        case [Binding(kind="assign", node=tree.Name() | tree.Attribute() as node, unpack=(), scope=None, path=path)]:
            return None if any(branch in scope.loops for branch, _ in path) else _steady_name(scope, node)
    return None


def _elements(scope: Scope, bindings: Sequence[Binding]) -> Iterator[str]:
    """The names whose objects a name has, one in each turn of a loop, by its only binding."""
    match bindings:
        case [Binding(kind="element", node=tree.Display(items=items), unpack=(), scope=None)]:
            names = (_steady_name(scope, item) for item in items if isinstance(item, (tree.Name, tree.Attribute)))
            yield from (name for name in names if name is not None)


def _steady_name(scope: Scope, node: tree.Name | tree.Attribute) -> str | None:
    """A name that a scope binds once, and in no loop, or an attribute of `self` that it does not bind again."""
    name = dotted_name(node)
    if name is None:
        return None
    bindings = scope.bindings.get(name, ())
    if any(branch in scope.loops for one in bindings for branch, _ in one.path):
        return None
    owner, dot, attr = name.partition(".")
    if dot:
        return name if owner == "self" == scope.self_name and "." not in attr and len(bindings) <= 1 else None
    return name if len(bindings) == 1 else None


def shares_object(scope: Scope, name: str, other: str, site: int) -> bool:
    """Whether two names of one object were both bound before a place."""
    return all(binding.order < site for one in (name, other) for binding in scope.bindings.get(one, ()))
