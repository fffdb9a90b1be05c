"""Whether a training goes on from where the one before has left off, when a loop calls it again.

A function with an epoch loop of its own is mostly a whole training, and what it makes starts anew with each call. Not
so a method that steps an optimizer which its object keeps, called on an object that is there before the loop: an agent
learns a few epochs from what it has gathered, and then again.
"""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.fixes.document import Document

__all__ = ["goes_on", "steps_what_is_kept"]


def steps_what_is_kept(document: Document, function: cst.FunctionDef) -> bool:
    """Whether a method steps an optimizer of its object, `self.optimizer.step()`, that it does not make itself."""
    receiver = function.params.params[0].name.value if function.params.params else ""
    if document.enclosing_class(function) is None or not receiver:
        return False
    stepped = {
        _own(node.func.value, receiver)
        for node in document.nodes(cst.Call, function)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "step"
    }
    targets = [node.target for node in document.nodes(cst.AssignTarget, function)]
    made = {_own(node, receiver) for target in targets for node in document.nodes(cst.Attribute, target)}
    return any(name is not None and "opt" in name and name not in made for name in stepped)


def goes_on(document: Document, call: cst.Call, loop: cst.For | cst.While) -> bool:
    """Whether the method that a loop calls is that of an object which the loop does not make anew."""
    if not isinstance(call.func, cst.Attribute) or not isinstance(call.func.value, cst.Name):
        return False
    name = call.func.value.value
    owner = document.scope_of(call).resolve(name)
    bindings = owner.bindings.get(name, ()) if owner is not None else ()
    return not any(outer is loop for binding in bindings for outer in document.ancestors(binding.node))


def _own(node: cst.CSTNode, receiver: str) -> str | None:
    """The name of an attribute of the method's own object."""
    match node:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)) if owner == receiver:
            return name
    return None
