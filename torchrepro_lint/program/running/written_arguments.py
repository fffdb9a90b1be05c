"""What the text of a call hands to a parameter, be the function of the project or from outside."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.program.evaluation.classes import is_static

__all__ = ["parameter_of", "written_argument"]


def parameter_of(scope: Scope, name: str) -> Parameter:
    """The parameter `name` of a function, as calls write it: its position does not count what they do not write, which
    is `self` and the `ctx` of an autograd function.
    """
    node = scope.node
    if not isinstance(node, tree.FunctionDef):
        return Parameter(name)
    names = [param.name for param in node.params if param.kind == "positional"]
    if scope.self_name is not None and (scope.self_name == "ctx" or not is_static(node)):
        names = names[1:]
    return Parameter(name, names.index(name) if name in names else None)


def written_argument(call: tree.Call, parameter: Parameter) -> tree.Expr | None:
    """The expression written for a parameter; None where none is, or where a `*` hides it."""
    for arg in call.args:
        if arg.keyword == parameter.name:
            return arg.value
    position = parameter.position
    positional = [arg for arg in call.args if arg.keyword is None]
    if position is None or position >= len(positional) or any(arg.star for arg in positional[: position + 1]):
        return None
    return positional[position].value
