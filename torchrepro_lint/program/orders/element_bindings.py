"""What a scope says of a collection that goes by a name: how the name is bound, and what is put into it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.scopes import Binding, Scope

__all__ = ["added_to", "assigned", "bindings_at", "bindings_of", "is_made_of_itself", "parameters", "put_into"]

_DICTS: Final = frozenset({"dict", "defaultdict", "OrderedDict"})


def bindings_of(scope: Scope, name: str) -> tuple[Binding, ...]:
    """The bindings of a name, wherever its scope is."""
    owner = scope.binder(name)
    return tuple(owner.bindings[name]) if owner is not None else ()


def bindings_at(scope: Scope, node: tree.Name) -> tuple[Binding, ...]:
    """The bindings that surely are the ones by which a name is read here: `label = int(label)` hides what was."""
    bindings, certain = scope.reaching(node.id, node.site)
    return tuple(bindings) if certain else ()


def assigned(scope: Scope, name: str) -> list[tree.Expr]:
    """What is assigned to a name alone."""
    return [one.node for one in bindings_of(scope, name) if one.kind == "assign" and not one.unpack and one.node]  # type: ignore[misc]


def parameters(scope: Scope, name: str) -> list[tree.Param]:
    """The parameters that go by a name."""
    return [one.node for one in bindings_of(scope, name) if isinstance(one.node, tree.Param)]


def put_into(scope: Scope, name: str, *methods: str) -> Iterator[tree.Arg]:
    """The only arguments of the calls of these methods of the collection that goes by this name."""
    for call, _ in scope.calls:
        match call:
            case tree.Call(func=tree.Attribute(value=owner, attr=attr), args=(arg,)) if attr in methods:
                if dotted_name(owner) == name:
                    yield arg


def added_to(scope: Scope, name: str) -> Iterator[tree.Expr]:
    """The single elements that are put into the collection of this name: a dict's keys, `counts[word] = 0`."""
    yield from (arg.value for arg in put_into(scope, name, "append", "add"))
    if any(map(_makes_a_dict, assigned(scope, name))):
        for store in scope.stores:
            match store.target:
                case tree.Subscript(value=owner, index=index) if dotted_name(owner) == name:
                    yield index


def _makes_a_dict(value: tree.Expr) -> bool:
    match value:
        case tree.DictDisplay():
            return True
        case tree.Call(func=func):
            return (dotted_name(func) or "").rpartition(".")[2] in _DICTS
    return False


def is_made_of_itself(binding: Binding) -> bool:
    """Whether what a name is given has the name in it: `xs = list(set(xs))`."""
    if binding.kind != "assign" or binding.node is None:
        return False
    parts = walk([binding.node])  # type: ignore[list-item]
    return any(isinstance(one, tree.Name) and one.id == binding.name for one in parts)
