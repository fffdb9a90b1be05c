"""Whether what is made at a place is put away beside others, so that all of them are used later on.

client = Client(model, DataLoader(images, shuffle=True))
clients.append(client)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_kept"]


def is_kept(ev: Evaluator, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> bool:
    """Whether what an expression of a scope makes is put away beside others, so that each turn of a loop makes another
    one: `loaders[phase] = DataLoader(...)`, `loaders.append(make(part))`, also under a name that it gets first, or
    in an object that has one.
    """
    parents = parents_of(ev, facts)
    for above in parents.around(node):
        match above:
            case tree.Call(func=func) if called_name(func) in method_words("keeps_beside_others"):
                return True
            case tree.Assign(targets=(tree.Name(id=name),)):
                return any(_name_is_kept(scope, one) for one in _names_that_hold(scope, name))
            case tree.Assign(targets=targets):
                return any(isinstance(target, tree.Subscript) for target in targets)
            case tree.Arg() | tree.Call() | tree.Display() | tree.DictDisplay():
                continue
            case tree.Comprehension() | tree.Yield():
                return True
        return False
    return False


def _names_that_hold(scope: Scope, name: str) -> list[str]:
    """The name, and those of the objects that are made of it: `client = Client(model, loader)`."""
    found = [name]
    for one in found:
        for other, bindings in scope.bindings.items():
            if other not in found and any(_is_made_of(binding.node, one) for binding in bindings):
                found.append(other)
    return found


def _is_made_of(node: object, name: str) -> bool:
    match node:
        case tree.Call(func=func, args=args):
            is_class = (called_name(func) or "")[:1].isupper()
            return is_class and any(isinstance(arg.value, tree.Name) and arg.value.id == name for arg in args)
    return False


def _name_is_kept(scope: Scope, name: str) -> bool:
    """Whether what has a name in a scope is put away beside others, itself or as `iter(name)`."""

    def holds(value: tree.Expr | None) -> bool:
        match value:
            case tree.Name(id=found):
                return found == name
            case tree.Call(args=args):
                return any(isinstance(arg.value, tree.Name) and arg.value.id == name for arg in args)
            case tree.Display(items=items):
                return any(map(holds, items))
        return False

    return (
        any(
            called_name(call.func) in method_words("keeps_beside_others") and any(holds(arg.value) for arg in call.args)
            for call, _ in scope.calls
        )
        or any(isinstance(store.target, tree.Subscript) and holds(store.value) for store in scope.stores)
        or any(holds(one.value) for one in scope.yields)
    )
