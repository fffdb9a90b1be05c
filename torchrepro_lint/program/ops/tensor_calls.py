"""Calls that give tensors: of torch, of networks, of functions of the project; and items of what they give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.tensors import gives_tensors, returns_tensor
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Values,
)
from torchrepro_lint.program.ops.listed_tensors import element
from torchrepro_lint.program.ops.network_calls import networks_of_callers, runs_network
from torchrepro_lint.program.ops.single_dimensions import single_by_call, single_by_index
from torchrepro_lint.program.ops.tensor_results import (
    OUTPUT,
    SOME,
    Tensor,
    joined,
    moved,
    of_function,
    of_method,
    one_of_several,
)
from torchrepro_lint.program.ops.tensor_values import by_values, external_names
from torchrepro_lint.program.running.callers import frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.ops.tensors import Tensors

__all__ = ["called", "item", "of_several"]


def called(tensors: Tensors, node: tree.Call, frame: Frame) -> Tensor | None:
    """The tensor that a call gives."""
    functions = tensors.ev.values(node.func, frame)
    for name in external_names(functions):
        if returns_tensor(name):
            given = (tensors.of(arg.value, frame) or element(tensors, arg.value, frame) for arg in node.args)
            inputs = [one for one in given if one is not None]
            return of_function(tensors.ev, name, node, frame, inputs)
    if runs_network(tensors.ev, functions) or networks_of_callers(tensors.ev, node.func, frame):
        return OUTPUT
    match node.func:
        case tree.Attribute(value=receiver, attr=attr):
            found = tensors.of(receiver, frame)
            if found is not None:
                return of_method(tensors.ev, found, attr, node, frame)
            if attr == "argsort" and not node.args[1:]:  # of an array as well: the result is the same there
                return one_of_several(SOME, "torch.sort", 1)
            if attr in ("cuda", "to") and node.args[:1] and not _is_known_otherwise(tensors, receiver, frame):
                return moved(tensors.ev, SOME, attr, node, frame)
            if attr == "cuda" and not _is_known_otherwise(tensors, receiver, frame):
                return SOME
    return _returned(tensors, functions) or by_values(tensors.ev.values(node, frame))


def of_several(tensors: Tensors, node: tree.Expr, frame: Frame, place: int | None = None) -> Tensor | None:
    """One of several tensors that a call gives, the one at `place` where that is known: `values, indices = x.topk(3)`,
    `out, state = self.lstm(x)`.
    """
    if not isinstance(node, tree.Call):
        return None
    functions = tensors.ev.values(node.func, frame)
    for name in external_names(functions):
        if gives_tensors(name) and not (name == "torch.where" and len(node.args) > 1):
            first = joined(tensors.of(arg.value, frame) for arg in node.args[:1])
            single = single_by_call(tensors.ev, last_part(name), node, frame, is_method=False)
            return replace(one_of_several(first or SOME, name, place), single=single)
    match node.func:
        case tree.Attribute(value=value, attr=attr) if gives_tensors(f"torch.Tensor.{attr}"):
            found = tensors.of(value, frame)
            single = single_by_call(tensors.ev, attr, node, frame, is_method=True)
            return replace(one_of_several(found, f"torch.{attr}", place), single=single) if found is not None else None
    key = ("returned", node, frame, place)
    handed_in = networks_of_callers(tensors.ev, node.func, frame)
    returned = tensors.ev.remembered(key, lambda: _returned_at(tensors, handed_in or functions, place), None)
    if runs_network(tensors.ev, functions):
        is_told = returned is not None and (returned.distinct or returned.floating is False or returned.grad is False)
        return returned if is_told else replace(OUTPUT, floating=None)
    return returned


def _returned(tensors: Tensors, functions: Values) -> Tensor | None:
    """What a function of the project gives, where all that it returns are tensors."""
    found: list[Tensor | None] = []
    for value in functions:
        function = value.function if isinstance(value, MethodValue) else value
        if not isinstance(function, FunctionValue) or not isinstance(function.node, tree.FunctionDef):
            return None
        scope = function.frame.facts.scope_of(function.node)
        inside = frame_without_callers(tensors.ev, function.frame.facts, scope)
        values = [one.value for one, _ in scope.returns if one.value is None or not _is_handed_in(one.value, scope)]
        found.extend(tensors.of(value, inside) if value is not None else None for value in values)
    return joined(found) if None not in found else None


def _is_handed_in(node: tree.Expr, scope: Scope) -> bool:
    """Whether what a function returns was given to it, in the place of what it makes: taken out of a parameter."""
    if not isinstance(node, tree.Name):
        return False
    bindings, certain = scope.reaching(node.id, node.site)
    only = bindings[0].node if certain and len(bindings) == 1 and not bindings[0].unpack else None
    match only:
        case (
            tree.Call(func=tree.Attribute(value=tree.Name(id=owner), attr="pop" | "get"))
            | tree.Subscript(value=tree.Name(id=owner), index=tree.Const(value=str()))
        ):
            return any(binding.kind == "param" for binding in scope.bindings.get(owner, ()))
    return False


def _returned_at(tensors: Tensors, functions: Values, place: int | None) -> Tensor | None:
    """What functions of the project, or the `forward` of its networks, give at one place of a tuple."""
    if place is None:
        return None
    found: list[Tensor | None] = []
    for function in _run_by(tensors, functions):
        scope = function.frame.facts.scope_of(function.node)
        inside = frame_without_callers(tensors.ev, function.frame.facts, scope)
        for one, _ in scope.returns:
            match one.value:
                case tree.Display(kind="tuple", items=items) if place < len(items):
                    if not isinstance(items[place], tree.Const):
                        found.append(tensors.of(items[place], inside))
                case tree.Call() as call:
                    found.append(of_several(tensors, call, inside, place))
                case _:
                    return None
    return joined(found) if None not in found else None


def _run_by(tensors: Tensors, functions: Values) -> list[FunctionValue]:
    """The functions of the project that a call runs; none where it may be something else as well."""
    found: list[FunctionValue] = []
    for value in functions:
        if isinstance(value, Instance):
            methods = [m for m in attributes.attribute(tensors.ev, value, "forward") if isinstance(m, MethodValue)]
            found.extend(method.function for method in methods)
        function = value.function if isinstance(value, MethodValue) else value
        if isinstance(function, FunctionValue) and isinstance(function.node, tree.FunctionDef):
            found.append(function)
    return found


def _is_known_otherwise(tensors: Tensors, node: tree.Expr, frame: Frame) -> bool:
    """Whether what is moved to a device is surely something else: a network, an object of the program."""
    values = tensors.ev.values(node, frame)
    return bool(values) and all(isinstance(value, (Instance, ExternalObject, ClassValue)) for value in values)


def item(tensors: Tensors, node: tree.Subscript, frame: Frame) -> Tensor | None:
    """A part of a tensor, or one of several."""
    found = tensors.of(node.value, frame)
    place = node.index.value if isinstance(node.index, tree.Const) and isinstance(node.index.value, int) else None
    if found is None or _is_tuple(node.value):
        return of_several(tensors, node.value, frame, place) or element(tensors, node.value, frame)
    if place is not None and not found.distinct:
        one = of_several(tensors, node.value, frame, place)
        return one if one is not None and one.distinct else replace(found, single=frozenset())
    apart = found.apart and (_cuts_out(node.index) or _is_basic(node.index))
    distinct = apart or (found.distinct and _cuts_out(node.index))
    return replace(found, distinct=distinct, apart=apart, single=single_by_index(node.index))


def _is_tuple(node: tree.Expr) -> bool:
    """Whether a call that may give one tensor or several gives several by the way that it is written."""
    match node:
        case tree.Call(func=tree.Attribute(attr=last), args=args):
            keywords = {arg.keyword: arg.value for arg in args}
            if last in method_words("values_and_indices"):
                return "dim" in keywords or any(_is_number(arg.value) for arg in args)
            if last == "nonzero":
                return isinstance(keywords.get("as_tuple"), tree.Const)
            return last == "unique" and any(name is not None and name.startswith("return_") for name in keywords)
    return False


def _is_number(node: tree.Expr) -> bool:
    return isinstance(node, (tree.Const, tree.Unary))


def _is_basic(index: tree.Expr) -> bool:
    """Whether an index consists of slices, numbers and new dimensions."""
    parts = index.items if isinstance(index, tree.Display) else (index,)
    return all(isinstance(part, tree.Opaque) or _is_number(part) for part in parts)


def _cuts_out(index: tree.Expr) -> bool:
    """Whether an index takes each element once at most: a slice, a comparison, one row."""
    parts = index.items if isinstance(index, tree.Display) else (index,)
    kept = [part for part in parts if not (isinstance(part, tree.Const) and part.value in (None, ...))]
    if all(isinstance(part, (tree.Opaque, tree.Compare)) for part in kept):
        return True
    return len(parts) == 1 and isinstance(index, (tree.Const, tree.Unary))
