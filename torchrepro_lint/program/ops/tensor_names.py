"""Local names of tensors: what is bound to them, and whether it is changed in place afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, Binding, Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.ops.graph_leaves import asks_for_gradient, off_the_graph
from torchrepro_lint.program.ops.listed_tensors import element_of_loop
from torchrepro_lint.program.ops.saved_tensors import saved_tensor
from torchrepro_lint.program.ops.tensor_arithmetic import combined
from torchrepro_lint.program.ops.tensor_calls import of_several
from torchrepro_lint.program.ops.tensor_params import param_tensor
from torchrepro_lint.program.ops.tensor_results import Tensor, joined
from torchrepro_lint.program.ops.tensor_values import by_values
from torchrepro_lint.program.running.parents import is_named

if TYPE_CHECKING:
    from torchrepro_lint.program.ops.tensors import Tensors

__all__ = ["bound", "named"]


def named(tensors: Tensors, name: str, site: int, frame: Frame) -> Tensor | None:
    """The tensor that a name is at a place; what holds for all, where several may be bound to it."""
    current: Frame | None = frame
    place = site
    while current is not None:
        bindings, _ = current.scope.reaching(name, place, lambda path, at=current: tensors.ev.decide(path, at))  # type: ignore[misc]
        if bindings:
            found = joined(bound(tensors, binding, current) for binding in bindings)
            if found is not None and (found.distinct or found.whole) and _is_changed(current.scope, name):
                stays_whole = found.whole and not _is_changed(current.scope, name, to_whole=False)
                found = replace(found, distinct=False, apart=False, whole=stays_whole)
            if found is not None and found.grad is False and asks_for_gradient(current.scope, name):
                found = replace(found, grad=None)
            return found
        if not isinstance(current.scope.node, tree.Comprehension):
            place = END
        current = current.parent
        while current is not None and isinstance(current.scope.node, tree.ClassDef):
            current = current.parent
    return by_values(tensors.ev.name(name, site, frame))


def _is_changed(scope: Scope, name: str, *, to_whole: bool = True) -> bool:
    """Whether the numbers of a tensor are changed in place: `x[0] = y`, `x += y`, `x.add_(y)`, `init.normal_(x)`; with
    `to_whole` False, other than to whole numbers that are written out: `mask[0] = 1`.
    """
    stores = any(
        isinstance(store.target, tree.Subscript)
        and is_named(store.target.value, name)
        and (to_whole or store.augmented or bool(store.unpack) or not _is_a_whole_number(store.value))
        for store in scope.stores
    )
    adds = any(binding.kind == "augmented" for binding in scope.bindings.get(name, ()))
    return stores or adds or any(_changes(call, name) for call, _ in scope.calls)


def _is_a_whole_number(value: tree.Expr) -> bool:
    match value:
        case tree.Const(value=int() | float() as number):
            return float(number).is_integer()
        case tree.Unary(op="-", operand=operand):
            return _is_a_whole_number(operand)
    return False


def _changes(call: tree.Call, name: str) -> bool:
    match call.func:
        case tree.Attribute(value=tree.Name(id="init") | tree.Attribute(attr="init")):
            return any(is_named(arg.value, name) for arg in call.args[:1])
        case tree.Attribute(value=owner, attr=attr):
            return attr.endswith("_") and attr not in method_words("keeps_numbers") and is_named(owner, name)
    return False


_ITSELF: Tensor | None = Tensor()  # what was added to is what this statement gave in the round before


def bound(tensors: Tensors, binding: Binding, frame: Frame) -> Tensor | None:
    """The tensor that one binding gives to its name."""
    node = binding.node
    match binding.kind, node:
        case "assign", tree.Display(items=items) if binding.unpack and binding.unpack[0] < len(items):
            return tensors.of(items[binding.unpack[0]], frame) if len(binding.unpack) == 1 else None
        case "assign", tree.Attribute(value=tree.Name(), attr="saved_tensors") if len(binding.unpack) == 1:
            return saved_tensor(tensors, frame, binding.unpack[0])
        case "assign", _ if binding.unpack:
            place = binding.unpack[0] if len(binding.unpack) == 1 else None
            part = of_several(tensors, node, frame, place)  # type: ignore[arg-type]
            return off_the_graph(tensors.ev, part, node, frame)  # type: ignore[arg-type]
        case "assign", _:
            return tensors.of(node, frame)  # type: ignore[arg-type]
        case "augmented", tree.AugAssign(target=tree.Name(id=name) as target, op=op, value=value, site=site):
            # In a loop, what is added to may be what was added before.
            before = tensors.ev.remembered(("tensor", node, frame), lambda: named(tensors, name, site, frame), _ITSELF)
            if before is _ITSELF:
                return None
            after = combined(op, ((before, target), (tensors.of(value, frame), value)), frame.scope)
            if before is None or after is None:
                return after
            return replace(after, on_cpu=before.on_cpu, floating=before.floating)  # in place
        case "element", _:
            iterated_in = frame
            if isinstance(frame.scope.node, tree.Comprehension) and frame.parent is not None:
                iterated_in = frame.parent
            listed = element_of_loop(tensors, node, iterated_in, binding.unpack)  # type: ignore[arg-type]
            if binding.unpack or listed is not None:
                return listed
            return tensors.of(node, iterated_in) or of_several(tensors, node, iterated_in)  # type: ignore[arg-type]
        case "param", tree.Param():
            return param_tensor(tensors, node, frame)
    return None
