"""Loaders that a function makes and uses up: nothing of them is left when it returns.

    def train(data):
        loader = DataLoader(data, shuffle=True)
        for batch in loader: ...

No loader of another function is used beside such a one, so that it needs another order than those of its own function
alone.
"""

from __future__ import annotations

import libcst as cst
from libcst.helpers import get_full_name_for_node

from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.scopes import Binding, Scope

__all__ = ["is_used_up"]

#: Built-in functions that tell a number, an item or a text of what they are given, and keep nothing of it.
_TELLING = frozenset({"len", "print", "next", "sum", "str", "repr", "isinstance"})


def is_used_up(document: Document, call: cst.Call) -> bool:
    """Whether what a call makes is given to one name of its function alone, and every use of that name is a loop over
    it, a question about it, or an argument of a call whose result is dropped, or is an object of which the function
    only reads attributes and calls methods: `trainer = Trainer(loader)`, `trainer.fit()`.
    """
    function, assign = document.function(call), document.parent(call)
    if function is None or not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return False
    target = assign.targets[0].target
    scope = document.scope_of(call)
    if not isinstance(target, cst.Name) or scope is document.scope or scope.resolve(target.value) is not scope:
        return False
    if document.nodes(cst.Yield, function):
        return False  # others run while it waits
    uses = [use for use in document.nodes(cst.Name, function) if use.value == target.value]
    return all(document.function(use) is function and _is_over(document, use, scope) for use in uses)


def _is_over(document: Document, use: cst.Name, scope: Scope) -> bool:
    """Whether a use of a name leaves nothing of its value behind when the statement ends."""
    node: cst.CSTNode = use
    while (outer := document.parent(node)) is not None:
        match outer:
            case cst.AssignTarget():
                return node is use
            case cst.Arg(keyword=name) | cst.Attribute(attr=name) if name is node:
                return True
            case cst.Attribute():
                return not isinstance(document.parent(outer), cst.Call)
            case cst.For(iter=whole) if whole is node:
                return True
            case cst.CompFor(iter=whole) if whole is node and not isinstance(document.parent(outer), cst.GeneratorExp):
                return True
            case cst.Call(func=cst.Name(value=name)) if isinstance(node, cst.Arg) and name in _TELLING:
                return True
            case cst.Expr(value=cst.Call(func=called)):
                return _keeps_to_the_function(called, scope)
            case cst.Assign(value=cst.Call() as made, targets=[cst.AssignTarget(target=cst.Name(value=name))]):
                return (
                    made is node and isinstance(made.func, cst.Name) and _is_of_the_function(document, use, name, scope)
                )
            case cst.BaseStatement() | cst.BaseSmallStatement() | cst.Lambda():
                return False
        node = outer
    return False


def _is_of_the_function(document: Document, at: cst.Name, name: str, scope: Scope) -> bool:
    """Whether the function around a node gives a name of its own something, and reads nothing but attributes of it."""
    function = document.function(at)
    if function is None or scope.resolve(name) is not scope:
        return False
    for use in document.nodes(cst.Name, function):
        if use.value != name:
            continue
        match document.parent(use):
            case cst.AssignTarget() | cst.Attribute(value=cst.Name()) if document.function(use) is function:
                continue
            case cst.Attribute(attr=attr) | cst.Arg(keyword=attr) if attr is use:
                continue
        return False
    return True


def _keeps_to_the_function(called: cst.BaseExpression, scope: Scope) -> bool:
    """Whether a function is called, also as one of a module, or a method of what the function around has made."""
    match called:
        case cst.Name():
            return True
        case cst.Attribute(value=cst.Attribute() as owner):
            return _is_a_submodule(get_full_name_for_node(owner), scope)
        case cst.Attribute(value=cst.Name(value=owner)):
            is_own = scope.resolve(owner) is scope
            bindings = _bindings(scope, owner)
            return bool(bindings) and all(_is_a_module(one) or (is_own and one.kind == "assign") for one in bindings)
    return False


def _bindings(scope: Scope, name: str) -> list[Binding]:
    """What gives a name its value where a scope reads it."""
    home = scope.resolve(name)
    return home.bindings.get(name, []) if home is not None else []


def _is_a_module(binding: Binding) -> bool:
    """Whether a name is that of a module: `import engine`. One of `from ... import` may be an object."""
    return binding.kind == "import" and binding.target is not None and binding.target[1] is None


def _is_a_submodule(name: str | None, scope: Scope) -> bool:
    """Whether a dotted name is that of a module: `import parts.engine`."""
    bindings = _bindings(scope, (name or "").partition(".")[0])
    return all(_is_a_module(one) for one in bindings) and any(
        isinstance(one.node, cst.ImportAlias) and one.node.evaluated_name == name for one in bindings
    )
