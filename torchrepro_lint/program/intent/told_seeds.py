"""Seeds that a program prints, logs or saves, so that a run can be repeated whatever chose them."""

from __future__ import annotations

from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions, walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words

__all__ = ["root_of", "tells_seed"]

#: What makes a holder of named values (docs.python.org: dict, argparse.Namespace, types.SimpleNamespace).
_HOLDERS: Final = frozenset({"dict", "Namespace", "SimpleNamespace"})


def tells_seed(scope: Scope, *, returned: bool = True) -> bool:
    """Whether what is called a seed, or the settings that hold it, is handed to a call that prints or saves, or is a
    part of the path or name under which results are kept; or is returned, for others to do so.

    Without `returned`, nothing else counts that the settings hold.
    """
    called_a_seed = function_words("is_a_seed").search
    holders = {"seed"} | {
        root
        for store in scope.stores
        if called_a_seed(_last(store.target)) and (root := root_of(store.target)) is not None
    }
    holders |= {
        root
        for call, _ in scope.calls
        for arg in call.args
        if isinstance(arg.value, tree.Attribute)
        and called_a_seed(arg.value.attr)
        and (root := root_of(arg.value)) is not None
    }
    holders |= {
        name
        for name, bindings in scope.bindings.items()
        if any(isinstance(one.node, tree.DictDisplay | tree.Call) and _has_seed(one.node) for one in bindings)
    }
    is_told_by = function_words("tells").fullmatch
    for call, _ in scope.calls:
        if is_told_by(_last(call.func)) and any(_mentions(arg.value, holders, parts=returned) for arg in call.args):
            return True
    if _is_in_a_name(scope):
        return True
    if not returned:
        return False
    return any(statement.value is not None and _mentions(statement.value, holders) for statement, _ in scope.returns)


def _is_in_a_name(scope: Scope) -> bool:
    """Whether what is called a seed is put into a text, which gets the name of a path or a run: `log_path = root /
    f"{args.name}-{seed}"`.
    """
    called_a_seed, names_results = function_words("is_a_seed").search, function_words("names_results").search
    return any(
        isinstance(part, tree.FormatString)
        and any(isinstance(one, tree.Name | tree.Attribute) and called_a_seed(_last(one)) for one in walk([part]))
        for name, bindings in scope.bindings.items()
        if names_results(name)
        for binding in bindings
        if binding.kind == "assign" and isinstance(binding.node, tree.FormatString | tree.Binary | tree.Call)
        for part in walk([binding.node])
    )


def _has_seed(made: tree.DictDisplay | tree.Call) -> bool:
    """Whether a dict or an object is made with a seed under that name: `{"seed": seed}`, `dict(seed=seed)`."""
    is_a_seed = function_words("is_a_seed").search
    if isinstance(made, tree.Call):
        return _last(made.func) in _HOLDERS and any(
            arg.keyword is not None and is_a_seed(arg.keyword) for arg in made.args
        )
    keys = (key.value for key, _ in made.items if isinstance(key, tree.Const) and isinstance(key.value, str))
    return any(map(is_a_seed, keys))


def _mentions(root: tree.Expr, holders: set[str], *, parts: bool = True) -> bool:
    """Whether a seed, or what holds it, is in an expression; with `parts` also another part of that, `config.size`."""
    pending = [root]
    while pending:
        node = pending.pop()
        match node:
            case tree.Name(id=name) | tree.Attribute(attr=name):
                if name in holders or function_words("is_a_seed").search(name):
                    return True
        if parts or not isinstance(node, tree.Attribute):
            pending.extend(sub_expressions(node))
    return False


def _last(node: tree.Expr) -> str:
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return name
        case tree.Subscript(index=tree.Const(value=str() as key)):
            return key
    return ""


def root_of(node: tree.Expr) -> str | None:
    while isinstance(node, (tree.Attribute, tree.Subscript)):
        node = node.value
    return node.id if isinstance(node, tree.Name) and node.id != "self" else None
