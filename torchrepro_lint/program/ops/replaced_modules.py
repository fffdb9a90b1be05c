"""Modules that a constructor replaces by others before anything can run them: `self.pool = nn.Identity()` in a method
that `__init__` calls, or `self.net.pool = nn.Identity()` in the constructor of what holds the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.classes import mro
from torchrepro_lint.program.evaluation.values import ClassValue, Instance
from torchrepro_lint.program.running.callers import instances_of
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_replaced"]

#: How many objects around a module, and methods that call each other, are looked into.
_MAX_STEPS: Final = 3


class _Part(NamedTuple):
    """What an object has under a name, from one place of its constructor on: `pool`, or `net.pool`."""

    name: str
    after: int  # the site in the scope that gives it


def is_replaced(ev: Evaluator, facts: ModuleFacts, scope: Scope, made: tree.Call) -> bool:
    """Whether a module that a constructor gives to an attribute is replaced by another one, which does not contain it,
    before the constructor of each object that has it ends.
    """
    cls = class_of_method(ev, facts, scope) if scope.name == "__init__" else None
    match parents_of(ev, facts).of(made):
        case tree.Assign(targets=(tree.Attribute(value=tree.Name(id=owner), attr=attr),)) if owner == scope.self_name:
            if cls is not None:
                return all(_replaces(ev, one, cls, _Part(attr, made.site)) for one in instances_of(ev, cls))
    return False


def _replaces(ev: Evaluator, instance: Instance, owner: ClassValue, part: _Part, steps: int = _MAX_STEPS) -> bool:
    """Whether the constructors of an object, or of what holds it, replace the part that that of `owner` gives it."""
    for base in reversed(mro(ev, instance.cls)):
        if not isinstance(base, ClassValue) or (init := _method(base, "__init__")) is None:
            continue
        after = part.after if base.node is owner.node else _end_of_super(init[1])
        if after is not None and _gives_another(ev, instance.cls, *init, _Part(part.name, after)):
            return True
    return bool(steps) and _holder_replaces(ev, instance, part, steps - 1)


def _holder_replaces(ev: Evaluator, instance: Instance, part: _Part, steps: int) -> bool:
    """Whether what holds the object replaces a part of it: `self.net.pool = nn.Identity()`."""
    made = call_at(ev, instance.site) if instance.site is not None else None
    if made is None:
        return False
    parents = parents_of(ev, made.facts)
    target = parents.target_of(made.call)
    match target:
        case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == made.scope.self_name:
            holder = class_of_method(ev, made.facts, made.scope) if made.scope.name == "__init__" else None
            held = _Part(f"{attr}.{part.name}", made.call.site)
            return holder is not None and all(
                _replaces(ev, one, holder, held, steps) for one in instances_of(ev, holder)
            )
        case tree.Name(id=name):
            return _stores_another(ev, made.facts, made.scope, f"{name}.{part.name}", made.call.site, unused=name)
    return False


def _method(cls: ClassValue, name: str) -> tuple[ModuleFacts, Scope] | None:
    """The file and the scope of a method that a class itself defines."""
    node = next((one for one in cls.node.body if isinstance(one, tree.FunctionDef) and one.name == name), None)
    return (cls.frame.facts, cls.frame.facts.scope_of(node)) if node is not None else None


def _end_of_super(init: Scope) -> int | None:
    """The site after which the constructors of the bases have run; None where it calls none."""
    for call, path in init.calls:
        match call.func:
            case tree.Attribute(attr="__init__") if not path:
                return call.site
    return None


def _gives_another(
    ev: Evaluator, cls: ClassValue, facts: ModuleFacts, method: Scope, part: _Part, steps: int = _MAX_STEPS
) -> bool:
    """Whether a method gives the part of its object another value, itself or by a method that it calls, whatever is
    asked around it.
    """
    own = method.self_name
    if own is None:
        return False
    if _stores_another(ev, facts, method, f"{own}.{part.name}", part.after):
        return True
    for call, path in method.calls if steps else ():
        match call.func:
            case tree.Attribute(value=tree.Name(id=owner), attr=name) if owner == own and not path:
                if call.site > part.after and any(
                    _gives_another(ev, cls, *one, _Part(part.name, -1), steps - 1) for one in _called(ev, cls, name)
                ):
                    return True
    return False


def _called(ev: Evaluator, cls: ClassValue, name: str) -> Iterator[tuple[ModuleFacts, Scope]]:
    bases = (base for base in mro(ev, cls) if isinstance(base, ClassValue))
    yield from islice((one for base in bases if (one := _method(base, name)) is not None), 1)


def _stores_another(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, name: str, after: int, *, unused: str | None = None
) -> bool:
    """Whether an assignment of a scope that surely runs gives a name another value, and the scope reads the name
    nowhere, nor calls or passes on what is called `unused` before.
    """
    replaced = [
        store.statement.site
        for store in scope.stores
        if store.statement.site > after and not store.path and not store.augmented and dotted_name(store.target) == name
    ]
    if not replaced:
        return False
    parents = parents_of(ev, facts)
    before = [use for use in parents.names_in(unused, scope.node) if after < use.site < replaced[0]] if unused else []
    if not all(parents.is_bound(use) or isinstance(parents.of(use), tree.Attribute) for use in before):
        return False
    uses = parents.attributes_in(name.rpartition(".")[2], scope.node)
    return all(parents.is_bound(use) for use in uses if dotted_name(use) == name)
