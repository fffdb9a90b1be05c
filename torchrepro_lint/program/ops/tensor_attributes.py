"""Attributes that are tensors: of the object itself, where its class assigns or registers them, and of tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.tensors import is_tensor_attribute
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.ops.tensor_names import bound
from torchrepro_lint.program.ops.tensor_results import SOME, Tensor, joined
from torchrepro_lint.program.ops.tensor_values import by_values
from torchrepro_lint.program.running.callers import contexts, frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.ops.tensors import Tensors

__all__ = ["attribute_tensor"]


def attribute_tensor(tensors: Tensors, node: tree.Attribute, frame: Frame) -> Tensor | None:
    """The tensor that an attribute is."""
    found = by_values(tensors.ev.values(node, frame))
    if found is not None and found.floating is not None:
        return found
    match node.value:
        case tree.Name(id=owner) if owner == _self_name(frame):
            assigned = _assigned(tensors, node.attr, frame)
            if assigned is not None:
                return assigned
    if found is None and is_tensor_attribute(node.attr):
        return tensors.of(node.value, frame)
    return found


def _self_name(frame: Frame) -> str | None:
    current: Frame | None = frame
    while current is not None:
        if current.scope.self_name is not None:
            return current.scope.self_name
        current = current.parent
    return None


def _assigned(tensors: Tensors, attr: str, frame: Frame) -> Tensor | None:
    """What the methods of the class assign to `self.attr`, or register as a buffer of that name."""
    scope: Scope | None = frame.scope
    while scope is not None and not isinstance(scope.node, tree.ClassDef):
        scope = scope.parent
    if scope is None:
        return None
    found = _assigned_in(tensors, attr, frame.facts, scope)
    if not found and scope.parent is not None:
        found = _inherited(tensors, attr, frame.facts, scope)
    known = joined(found)
    # What it holds later is not what was assigned: it is added to, and loaded from checkpoints.
    return replace(known, whole=False) if known is not None else None


def _assigned_in(tensors: Tensors, attr: str, facts: ModuleFacts, scope: Scope) -> list[Tensor | None]:
    found: list[Tensor | None] = []
    for method in scope.children:
        stores = [b for b in method.bindings.get(f"self.{attr}", ()) if b.kind == "assign"]
        registered = [call for call, _ in method.calls if _registers(call, attr)]
        if not stores and not registered:
            continue
        inside = contexts(tensors.ev, facts, method)[0]
        found.extend(bound(tensors, binding, inside) for binding in stores)
        for call in registered:
            given = tensors.of(call.args[1].value, inside) if len(call.args) > 1 else None
            found.append(replace(given or SOME, on_cpu=False, grad=_is_parameter(call)))  # it moves with the module
    return found


def _inherited(tensors: Tensors, attr: str, facts: ModuleFacts, scope: Scope) -> list[Tensor | None]:
    """The same of the first class above that assigns the attribute."""
    assert isinstance(scope.node, tree.ClassDef) and scope.parent is not None
    around = frame_without_callers(tensors.ev, facts, scope.parent)
    for base in attributes.mro(tensors.ev, ClassValue(scope.node, around))[1:]:
        if isinstance(base, ClassValue):
            found = _assigned_in(tensors, attr, base.frame.facts, base.frame.facts.scope_of(base.node))
            if found:
                return found
    return []


def _is_parameter(call: tree.Call) -> bool:
    """Whether gradients reach what is registered: a parameter, no buffer."""
    return isinstance(call.func, tree.Attribute) and call.func.attr == "register_parameter"


def _registers(call: tree.Call, attr: str) -> bool:
    match call:
        case tree.Call(
            func=tree.Attribute(attr="register_buffer" | "register_parameter"),
            args=(tree.Arg(value=tree.Const(value=name)), *_),
        ):
            return name == attr
    return False
