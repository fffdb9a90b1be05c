"""Expressions that mean the same in every call of their function: `torch.utils.data`, `is_available()`.

No name in them is bound in the function. What they are is a question about the frame around it, and so asked once
there, however many calls there are.
"""

from __future__ import annotations

from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope, sub_expressions

__all__ = ["height"]

#: The parts of a larger expression are looked at one by one, when they are asked for.
_MAX_PARTS: Final = 40

# What a lambda or a comprehension gives knows the frame in which it was made.
_PLAIN: Final = (
    tree.Name, tree.Attribute, tree.Call, tree.Const, tree.Subscript, tree.Display, tree.DictDisplay, tree.Unary,
    tree.Binary, tree.Boolean, tree.Compare, tree.Conditional, tree.Starred, tree.FormatString,
)  # fmt: skip


def height(node: tree.Expr, scope: Scope) -> int:
    """Of how many scopes, from its own, which is `scope`, outwards, an expression uses no name: 0 if of its own."""
    names = _names(node)
    if names is None:
        return 0
    found = 0
    own = True  # a class body is seen by itself and the comprehensions in it alone
    while scope.parent is not None:
        is_seen = own or not isinstance(scope.node, tree.ClassDef)
        if is_seen and any(name in scope.bindings or name in scope.declared for name in names):
            break
        own = own and isinstance(scope.node, tree.Comprehension)
        scope = scope.parent
        found += 1
    return found


def _names(root: tree.Expr) -> set[str] | None:
    """The names in an expression; None where it hangs on more than them."""
    names: set[str] = set()
    pending = [root]
    for _ in range(_MAX_PARTS):
        if not pending:
            break
        node = pending.pop()
        if not isinstance(node, _PLAIN):
            return None
        if isinstance(node, tree.Name):
            names.add(node.id)
        pending.extend(sub_expressions(node))
    return None if pending or "super" in names else names
