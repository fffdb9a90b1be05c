"""What a call hands over to a parameter of the function that it enters, as it is written there."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope

__all__ = ["handed_over"]


def handed_over(call: tree.Call, function: Scope, name: str) -> tuple[bool, tree.Expr | None]:
    """Whether it is known what the parameter `name` gets, and the expression; (True, None) where its default is.

    Arguments behind a star hide it.
    """
    node = function.node
    if not isinstance(node, tree.FunctionDef) or any(arg.star for arg in call.args):
        return False, None
    names = [param.name for param in node.params if param.kind == "positional"]
    if function.self_name is not None:
        names = names[1:]
    positional = [arg for arg in call.args if arg.keyword is None]
    for position, arg in enumerate(positional):
        if position < len(names) and names[position] == name:
            return True, arg.value
    return True, next((arg.value for arg in call.args if arg.keyword == name), None)
