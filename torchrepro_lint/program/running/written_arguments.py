"""Which parameter each argument in the text of a call is for, be the function of the project or from outside."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.program.evaluation.classes import is_static, takes_context

__all__ = ["parameter_of", "receiving_parameter", "written_argument"]


def parameter_of(scope: Scope, name: str) -> Parameter:
    """The parameter `name` of a function, as calls write it: its position does not count what they do not write, which
    is `self` and the `ctx` of an autograd function.
    """
    node = scope.node
    if not isinstance(node, tree.FunctionDef):
        return Parameter(name)
    names = [param.name for param in node.params if param.kind == "positional"]
    if scope.self_name is not None and (takes_context(scope) or not is_static(node)):
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


def receiving_parameter(node: tree.FunctionDef, call: tree.Call, arg: tree.Arg, *, skipped: int) -> str | None:
    """The parameter that gets an argument of the call, which does not write the first `skipped`; None where a `*` hides
    it.
    """
    if arg.star:
        return None
    if arg.keyword is not None:
        return arg.keyword if any(param.name == arg.keyword for param in node.params) else None
    params = [param.name for param in node.params if param.kind == "positional"][skipped:]
    before = call.args[: call.args.index(arg)]
    if any(other.star for other in before):
        return None
    position = len([other for other in before if other.keyword is None])
    return params[position] if position < len(params) else None
