"""Whether an expression is a tensor, as far as can be told, and what is known of that tensor.

A method such as `gather` or `cumsum` counts as torch's only where its receiver shows itself as a tensor: made by a
function of torch, what a network gives, a parameter of a network's `forward`, annotated, moved to a device. What shows
nothing is none: a data frame, an array, a dict, an object of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Binding, Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tensors import gives_tensors, is_tensor_attribute, result_is_floating, returns_tensor
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Value,
    Values,
)
from torchrepro_lint.program.ops.tensor_results import (
    OUTPUT,
    SOME,
    Tensor,
    moved,
    of_function,
    of_method,
    one_of_several,
)
from torchrepro_lint.program.running.callers import contexts, frame_without_callers, visible_calls

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Tensor", "is_network_class", "tensor"]

MAX_CALLERS = 6


_NO_TENSOR_OPERATORS = frozenset({"is", "is not", "in", "not in"})


def tensor(ev: Evaluator, node: tree.Expr, frame: Frame) -> Tensor | None:
    """What is known of the tensor that `node` is; None where it does not show itself as one."""
    return ev.remembered(("tensor", node, frame), lambda: _tensor(ev, node, frame), None)


def _tensor(ev: Evaluator, node: tree.Expr, frame: Frame) -> Tensor | None:
    match node:
        case tree.Name(site=site, id=name):
            return _named(ev, name, site, frame)
        case tree.Attribute():
            return _attribute(ev, node, frame)
        case tree.Call():
            return _called(ev, node, frame)
        case tree.Subscript():
            return _subscript(ev, node, frame)
        case tree.Unary(op="-" | "~" | "+", operand=operand):
            return tensor(ev, operand, frame)
        case tree.Binary(op=op, left=left, right=right):
            return _combined(op, ((tensor(ev, left, frame), left), (tensor(ev, right, frame), right)))
        case tree.Compare(left=left, ops=(op, *_), comparators=(right, *_)) if op not in _NO_TENSOR_OPERATORS:
            found = _either(ev, (left, right), frame)
            return Tensor(found.on_cpu, False, False) if found is not None else None
        case tree.Conditional(body=body, orelse=orelse):
            return _either(ev, (body, orelse), frame)
        case tree.Walrus(value=value) | tree.Starred(value=value):
            return tensor(ev, value, frame)
    return None


def _either(ev: Evaluator, nodes: Iterable[tree.Expr], frame: Frame) -> Tensor | None:
    return _joined(tensor(ev, node, frame) for node in nodes)


def _joined(found: Iterable[Tensor | None]) -> Tensor | None:
    """What holds for all that are tensors; None where none is."""
    result: Tensor | None = None
    for one in found:
        if one is not None:
            result = one if result is None else result.joined(one)
    return result


def _combined(op: str, sides: tuple[tuple[Tensor | None, tree.Expr], ...]) -> Tensor | None:
    """What an operator of arithmetic gives for its two sides, each as a tensor, if it is one, and as it is written."""
    tensors = [one for one, _ in sides if one is not None]
    if not tensors:
        return None
    numbers = [node.value if isinstance(node, tree.Const) else None for one, node in sides if one is None]
    floats = [*(one.floating for one in tensors), *(None if n is None else isinstance(n, float) for n in numbers)]
    floating = True if op == "/" or True in floats else (None if None in floats else False)
    grads = [one.grad for one in tensors]
    grad = True if True in grads else (None if None in grads else False)
    is_exact = all(one.is_exact for one in tensors) and all(isinstance(number, int) for number in numbers)
    return Tensor(
        # A tensor on the CPU and one elsewhere do not combine, unless the one on the CPU is a scalar.
        on_cpu=all(one.on_cpu for one in tensors),
        floating=floating,
        grad=grad,
        distinct=(
            op in ("+", "-")
            and sum(one.distinct for one in tensors) == 1
            and all(one is None or one.distinct or _is_steady(node) for one, node in sides)
        ),
        whole=is_exact and op in ("+", "-", "*"),
    )


def _is_steady(node: tree.Expr) -> bool:
    """Whether an expression is a number, or has one in each row: `labels[:, None] * 4`."""
    match node:
        case tree.Const():
            return True
        case tree.Subscript(index=tree.Display(items=(*_, tree.Const(value=None)))):
            return True
        case tree.Binary(left=left, right=right):
            return _is_steady(left) and _is_steady(right)
    return False


# --- names --------------------------------------------------------------------------------------------------------


def _named(ev: Evaluator, name: str, site: int, frame: Frame) -> Tensor | None:
    current: Frame | None = frame
    place = site
    while current is not None:
        bindings, _ = current.scope.reaching(name, place, lambda path, at=current: ev.decide(path, at))  # type: ignore[misc]
        if bindings:
            found = _joined(_bound(ev, binding, current) for binding in bindings)
            if found is not None and (found.distinct or found.whole) and _is_changed(current.scope, name):
                return replace(found, distinct=False, whole=False)
            return found
        if not isinstance(current.scope.node, tree.Comprehension):
            place = END
        current = current.parent
        while current is not None and isinstance(current.scope.node, tree.ClassDef):
            current = current.parent
    return _by_values(ev.name(name, site, frame))


def _is_changed(scope: Scope, name: str) -> bool:
    """Whether the numbers of a tensor are changed in place: `x[0] = y`, `x += y`, `x.add_(y)`."""
    stores = any(
        isinstance(store.target, tree.Subscript) and _is_named(store.target.value, name) for store in scope.stores
    )
    adds = any(binding.kind == "augmented" for binding in scope.bindings.get(name, ()))
    return stores or adds or any(_changes(call, name) for call, _ in scope.calls)


def _changes(call: tree.Call, name: str) -> bool:
    match call.func:
        case tree.Attribute(value=tree.Name(id=owner), attr=attr):
            return owner == name and attr.endswith("_") and attr not in ("unsqueeze_", "squeeze_", "requires_grad_")
    return False


def _is_named(node: tree.Expr, name: str) -> bool:
    return isinstance(node, tree.Name) and node.id == name


_ITSELF: Tensor | None = Tensor()  # what was added to is what this statement gave in the round before


def _bound(ev: Evaluator, binding: Binding, frame: Frame) -> Tensor | None:
    node = binding.node
    match binding.kind, node:
        case "assign", tree.Display(items=items) if binding.unpack and binding.unpack[0] < len(items):
            return tensor(ev, items[binding.unpack[0]], frame) if len(binding.unpack) == 1 else None
        case "assign", _ if binding.unpack:
            place = binding.unpack[0] if len(binding.unpack) == 1 else None
            return _of_several(ev, node, frame, place)  # type: ignore[arg-type]
        case "assign", _:
            return tensor(ev, node, frame)  # type: ignore[arg-type]
        case "augmented", tree.AugAssign(target=tree.Name(id=name) as target, op=op, value=value, site=site):
            # In a loop, what is added to may be what was added before.
            before = ev.remembered(("tensor", node, frame), lambda: _named(ev, name, site, frame), _ITSELF)
            if before is _ITSELF:
                return None
            after = _combined(op, ((before, target), (tensor(ev, value, frame), value)))
            if before is None or after is None:
                return after
            return replace(after, on_cpu=before.on_cpu, floating=before.floating)  # in place
        case "element", _:
            iterated_in = frame
            if isinstance(frame.scope.node, tree.Comprehension) and frame.parent is not None:
                iterated_in = frame.parent
            found = tensor(ev, node, iterated_in) or _of_several(ev, node, iterated_in)  # type: ignore[arg-type]
            return found if not binding.unpack else None
        case "param", tree.Param():
            return _param(ev, node, frame)
    return None


def _of_several(ev: Evaluator, node: tree.Expr, frame: Frame, place: int | None = None) -> Tensor | None:
    """One of several tensors that a call gives, the one at `place` where that is known: `values, indices = x.topk(3)`,
    `out, state = self.lstm(x)`.
    """
    if not isinstance(node, tree.Call):
        return None
    functions = ev.values(node.func, frame)
    for name in _external_names(functions):
        if gives_tensors(name) and not (name == "torch.where" and len(node.args) > 1):
            first = _joined(tensor(ev, arg.value, frame) for arg in node.args[:1])
            return one_of_several(first or SOME, name, place)
    match node.func:
        case tree.Attribute(value=value, attr=attr) if gives_tensors(f"torch.Tensor.{attr}"):
            found = tensor(ev, value, frame)
            return one_of_several(found, f"torch.{attr}", place) if found is not None else None
    returned = ev.remembered(("returned", node, frame, place), lambda: _returned_at(ev, functions, place), None)
    if any(_is_network(ev, value) for value in functions):
        is_told = returned is not None and (returned.distinct or returned.floating is False)
        return returned if is_told else replace(OUTPUT, floating=None)
    return returned


def _returned_at(ev: Evaluator, functions: Values, place: int | None) -> Tensor | None:
    """What functions of the project, or the `forward` of its networks, give at one place of a tuple."""
    if place is None:
        return None
    found: list[Tensor | None] = []
    for function in _run_by(ev, functions):
        scope = function.frame.facts.scope_of(function.node)
        inside = frame_without_callers(ev, function.frame.facts, scope)
        for one, _ in scope.returns:
            match one.value:
                case tree.Display(kind="tuple", items=items) if place < len(items):
                    if not isinstance(items[place], tree.Const):
                        found.append(tensor(ev, items[place], inside))
                case tree.Call() as call:
                    found.append(_of_several(ev, call, inside, place))
                case _:
                    return None
    return _joined(found) if None not in found else None


def _run_by(ev: Evaluator, functions: Values) -> list[FunctionValue]:
    """The functions of the project that a call runs; none where it may be something else as well."""
    found: list[FunctionValue] = []
    for value in functions:
        if isinstance(value, Instance):
            methods = [m for m in attributes.attribute(ev, value, "forward") if isinstance(m, MethodValue)]
            found.extend(method.function for method in methods)
        function = value.function if isinstance(value, MethodValue) else value
        if isinstance(function, FunctionValue) and isinstance(function.node, tree.FunctionDef):
            found.append(function)
    return found


def _param(ev: Evaluator, param: tree.Param, frame: Frame) -> Tensor | None:
    if param.kind in ("star", "double-star"):
        return None
    if param.annotation is not None:
        if not _is_tensor_annotation(ev, param.annotation, frame):
            return None
        return _passed(ev, param, frame) or _as_annotated(param)
    given = frame.param(param.name)
    passed = _passed(ev, param, frame)
    if passed is not None:
        return passed
    if given is not None and _by_values(given) is not None:
        return _by_values(given)
    if isinstance(param.default, tree.Const) and param.default.value is not None:
        return None
    return _as_annotated(param) if _is_forward(ev, frame) and param.name != frame.scope.self_name else None


# What a network is given as data, by the names that are usual for it: no gradient flows back to it.
_DATA = re.compile(
    r"(?:.*_)?(?:ids|labels?|lengths?|lens|indices|index|idx|(?<!pred_)(?<!soft_)masks?)|pixel_values\w*"
)


def _as_annotated(param: tree.Param) -> Tensor:
    """What the annotation and the name say of a tensor that nobody in sight passes."""
    names = [param.annotation] if param.annotation is not None else []
    while names:
        node = names.pop()
        match node:
            case tree.Attribute(attr=last) | tree.Name(id=last) if result_is_floating(f"torch.{last}") is False:
                return replace(SOME, floating=False, grad=False)
            case tree.Binary(op="|", left=left, right=right):
                names += [left, right]
            case tree.Subscript(index=index):
                names.append(index)
    return replace(SOME, grad=False) if _DATA.fullmatch(param.name) else SOME


def _passed(ev: Evaluator, param: tree.Param, frame: Frame) -> Tensor | None:
    """What the calls in sight pass for a parameter."""
    scope = frame.scope
    if not isinstance(scope.node, tree.FunctionDef) or scope.node.name == "__init__":
        return None
    names = [one.name for one in scope.node.params if one.kind == "positional"]
    if isinstance(scope.parent and scope.parent.node, tree.ClassDef) and scope.self_name is not None:
        names = names[1:]
    found: list[Tensor | None] = []
    for call, caller in visible_calls(ev, frame.facts, scope)[:MAX_CALLERS]:
        for index, arg in enumerate(call.args):
            if arg.star:
                break
            if arg.keyword == param.name or (arg.keyword is None and names[index : index + 1] == [param.name]):
                found.append(tensor(ev, arg.value, caller))
    return _joined(found)


_WRAPPERS = frozenset({"Optional", "Union", "Annotated", "Final"})


def _is_tensor_annotation(ev: Evaluator, node: tree.Expr, frame: Frame) -> bool:
    match node:
        case tree.Const(value=str() as text):
            return text.strip("'\" ").removeprefix("torch.") == "Tensor"
        case tree.Binary(op="|", left=left, right=right):
            return any(_is_tensor_annotation(ev, side, frame) for side in (left, right))
        case tree.Subscript(value=tree.Name(id=name) | tree.Attribute(attr=name), index=index) if name in _WRAPPERS:
            parts = index.items if isinstance(index, tree.Display) else (index,)
            return any(_is_tensor_annotation(ev, part, frame) for part in parts)
        case tree.Subscript(value=value):  # jaxtyping: Float[Tensor, "b c"]
            return any(name.startswith("jaxtyping.") for name in _external_names(ev.values(value, frame)))
        case tree.Name() | tree.Attribute():
            return any(returns_tensor(name) for name in _external_names(ev.values(node, frame.parent or frame)))
    return False


def _is_forward(ev: Evaluator, frame: Frame) -> bool:
    """Whether this is the `forward` of a network."""
    if frame.scope.name != "forward" or frame.parent is None:
        return False
    cls, around = frame.parent.scope.node, frame.parent.parent
    return isinstance(cls, tree.ClassDef) and around is not None and is_network_class(ev, ClassValue(cls, around))


def is_network_class(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a class of the project is a torch.nn.Module, by its bases; one from elsewhere counts by its name."""
    for base in attributes.external_bases(ev, cls):
        last = base.rpartition(".")[2]
        if base.startswith("torch.nn.") or last.endswith(("Module", "Model")):
            return True
    return False


# --- attributes, calls and items ----------------------------------------------------------------------------------


def _attribute(ev: Evaluator, node: tree.Attribute, frame: Frame) -> Tensor | None:
    found = _by_values(ev.values(node, frame))
    if found is not None and found.floating is not None:
        return found
    match node.value:
        case tree.Name(id=owner) if owner == _self_name(frame):
            assigned = _assigned(ev, node.attr, frame)
            if assigned is not None:
                return assigned
    if found is None and is_tensor_attribute(node.attr):
        return tensor(ev, node.value, frame)
    return found


def _self_name(frame: Frame) -> str | None:
    current: Frame | None = frame
    while current is not None:
        if current.scope.self_name is not None:
            return current.scope.self_name
        current = current.parent
    return None


def _assigned(ev: Evaluator, attr: str, frame: Frame) -> Tensor | None:
    """What the methods of the class assign to `self.attr`, or register as a buffer of that name."""
    scope: Scope | None = frame.scope
    while scope is not None and not isinstance(scope.node, tree.ClassDef):
        scope = scope.parent
    if scope is None:
        return None
    found: list[Tensor | None] = []
    for method in scope.children:
        stores = [b for b in method.bindings.get(f"self.{attr}", ()) if b.kind == "assign"]
        registered = [call for call, _ in method.calls if _registers(call, attr)]
        if not stores and not registered:
            continue
        inside = contexts(ev, frame.facts, method)[0]
        found.extend(_bound(ev, binding, inside) for binding in stores)
        for call in registered:
            given = tensor(ev, call.args[1].value, inside) if len(call.args) > 1 else None
            found.append(replace(given or SOME, on_cpu=False, grad=_is_parameter(call)))  # it moves with the module
    return _joined(found)


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


def _subscript(ev: Evaluator, node: tree.Subscript, frame: Frame) -> Tensor | None:
    found = tensor(ev, node.value, frame)
    place = node.index.value if isinstance(node.index, tree.Const) and isinstance(node.index.value, int) else None
    if found is None:
        return _of_several(ev, node.value, frame, place)
    if place is not None and not found.distinct:
        one = _of_several(ev, node.value, frame, place)
        return one if one is not None and one.distinct else found
    return replace(found, distinct=found.distinct and _cuts_out(node.index))


def _cuts_out(index: tree.Expr) -> bool:
    """Whether an index takes each element once at most: a slice, a comparison, one row."""
    parts = index.items if isinstance(index, tree.Display) else (index,)
    kept = [part for part in parts if not (isinstance(part, tree.Const) and part.value in (None, ...))]
    if all(isinstance(part, (tree.Opaque, tree.Compare)) for part in kept):
        return True
    return len(parts) == 1 and isinstance(index, (tree.Const, tree.Unary))


def _called(ev: Evaluator, node: tree.Call, frame: Frame) -> Tensor | None:
    functions = ev.values(node.func, frame)
    for name in _external_names(functions):
        if returns_tensor(name):
            inputs = [one for one in (tensor(ev, arg.value, frame) for arg in node.args) if one is not None]
            return of_function(ev, name, node, frame, inputs)
    if any(_is_network(ev, value) for value in functions):
        return OUTPUT
    match node.func:
        case tree.Attribute(value=receiver, attr=attr):
            found = tensor(ev, receiver, frame)
            if found is not None:
                return of_method(ev, found, attr, node, frame)
            if attr == "argsort" and not node.args[1:]:  # of an array as well: the result is the same there
                return one_of_several(SOME, "torch.sort", 1)
            if attr in ("cuda", "to") and node.args[:1] and not _is_known_otherwise(ev, receiver, frame):
                return moved(ev, SOME, attr, node, frame)
            if attr == "cuda" and not _is_known_otherwise(ev, receiver, frame):
                return SOME
    return _returned(ev, functions) or _by_values(ev.values(node, frame))


def _returned(ev: Evaluator, functions: Values) -> Tensor | None:
    """What a function of the project gives, where all that it returns are tensors."""
    found: list[Tensor | None] = []
    for value in functions:
        function = value.function if isinstance(value, MethodValue) else value
        if not isinstance(function, FunctionValue) or not isinstance(function.node, tree.FunctionDef):
            return None
        scope = function.frame.facts.scope_of(function.node)
        inside = frame_without_callers(ev, function.frame.facts, scope)
        found.extend(tensor(ev, one.value, inside) if one.value is not None else None for one, _ in scope.returns)
    return _joined(found) if None not in found else None


def _is_known_otherwise(ev: Evaluator, node: tree.Expr, frame: Frame) -> bool:
    """Whether what is moved to a device is surely something else: a network, an object of the program."""
    values = ev.values(node, frame)
    return bool(values) and all(isinstance(value, (Instance, ExternalObject, ClassValue)) for value in values)


# --- values -------------------------------------------------------------------------------------------------------


def _by_values(values: Values) -> Tensor | None:
    """A tensor that the evaluation of values has shown already."""
    for value in values:
        if isinstance(value, ExternalObject) and returns_tensor(value.name):
            if value.name.endswith("Parameter"):
                return OUTPUT
            return replace(SOME, grad=False) if value.name.endswith(".Buffer") else SOME
    return None


def _external_names(values: Values) -> list[str]:
    return sorted(canonical(value.name) for value in values if isinstance(value, External))


def _is_network(ev: Evaluator, value: Value) -> bool:
    match value:
        case ExternalObject(name=name):
            return name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper() and not returns_tensor(name)
        case Instance(cls=cls):
            return is_network_class(ev, cls)
    return False
