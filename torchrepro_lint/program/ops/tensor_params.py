"""Parameters that are tensors: by what calls pass, by their annotations, by the names that are usual for data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.tensors import result_is_floating, returns_tensor
from torchrepro_lint.program.evaluation.classes import takes_context
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.ops.saved_tensors import applications
from torchrepro_lint.program.ops.tensor_results import SOME, Tensor, joined
from torchrepro_lint.program.ops.tensor_values import by_values, external_names, is_network_class
from torchrepro_lint.program.running.callers import has_further_calls, visible_calls
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.ops.tensors import Tensors

__all__ = ["param_tensor"]

#: How many calls of a function are asked what they pass; where there are more, nothing is said of all of them.
MAX_CALLERS = 16


def param_tensor(tensors: Tensors, param: tree.Param, frame: Frame) -> Tensor | None:
    """The tensor that a parameter is in a frame of its function."""
    if param.kind in ("star", "double-star"):
        return None
    if param.annotation is not None:
        if not _is_tensor_annotation(tensors, param.annotation, frame):
            return None
        return _as_named(_passed(tensors, param, frame), param) or _as_annotated(param)
    given = frame.param(param.name)
    passed = _passed(tensors, param, frame)
    if passed is not None:
        return _as_named(passed, param)
    if given is not None and by_values(given) is not None:
        return by_values(given)
    if isinstance(param.default, tree.Const) and param.default.value is not None:
        return None
    return _as_annotated(param) if _is_forward(tensors, frame) and param.name != frame.scope.self_name else None


# What a network is given as data, by the names that are usual for it: no gradient flows back to it.
_NUMBERS: Final = function_words("numbers_of_data")
_MASKS_AND_PIXELS: Final = function_words("masks_and_pixels")


def _says_data(name: str) -> bool:
    return (_NUMBERS.fullmatch(name) or _MASKS_AND_PIXELS.fullmatch(name)) is not None


def named_as_data(node: tree.Expr, found: Tensor | None) -> Tensor | None:
    """What is known of a tensor, with what its name says where that does not show whether gradients flow to it:
    `F.pad(position_ids, ...)`, `batch.input_ids[:, 1:]`.
    """
    if (found is not None and found.grad is not None) or not _is_named_as_data(node):
        return found
    return replace(found or SOME, grad=False)


def _is_named_as_data(node: tree.Expr) -> bool:
    match node:
        case tree.Name(id=name):
            return _says_data(name)
        case tree.Attribute(attr=name) | tree.Subscript(index=tree.Const(value=str() as name)):
            return _NUMBERS.fullmatch(name) is not None  # the masks in `outputs["masks"]` may be predicted
        case tree.Subscript(value=whole):
            return _is_named_as_data(whole)
    return False


def _as_named(passed: Tensor | None, param: tree.Param) -> Tensor | None:
    """What calls pass for a parameter; where that does not show whether gradients flow to it, its name does."""
    if passed is not None and passed.grad is None and _says_data(param.name):
        return replace(passed, grad=False)
    return passed


def _as_annotated(param: tree.Param) -> Tensor:
    """What the annotation and the name say of a tensor that nobody visible passes."""
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
    return replace(SOME, grad=False) if _says_data(param.name) else SOME


def _passed(tensors: Tensors, param: tree.Param, frame: Frame) -> Tensor | None:
    """What the visible calls pass for a parameter."""
    scope = frame.scope
    if not isinstance(scope.node, tree.FunctionDef) or scope.node.name == "__init__":
        return None
    calls = visible_calls(tensors.ev, frame.facts, scope)
    if takes_context(scope):
        calls = tuple(applications(tensors.ev, frame.facts, scope))
    parameter = parameter_of(scope, param.name)
    written = ((written_argument(call, parameter), caller) for call, caller in calls[:MAX_CALLERS])
    passed = joined([tensors.of(node, caller) for node, caller in written if node is not None])
    is_whole = len(calls) <= MAX_CALLERS and not has_further_calls(tensors.ev, frame.facts, scope)
    return passed if is_whole or passed is None else passed.joined(SOME)


_WRAPPERS = frozenset({"Optional", "Union", "Annotated", "Final"})


def _is_tensor_annotation(tensors: Tensors, node: tree.Expr, frame: Frame) -> bool:
    match node:
        case tree.Const(value=str() as text):
            return text.strip("'\" ").removeprefix("torch.") == "Tensor"
        case tree.Binary(op="|", left=left, right=right):
            return any(_is_tensor_annotation(tensors, side, frame) for side in (left, right))
        case tree.Subscript(value=tree.Name(id=name) | tree.Attribute(attr=name), index=index) if name in _WRAPPERS:
            parts = index.items if isinstance(index, tree.Display) else (index,)
            return any(_is_tensor_annotation(tensors, part, frame) for part in parts)
        case tree.Subscript(value=value):  # jaxtyping: Float[Tensor, "b c"]
            return any(name.startswith("jaxtyping.") for name in external_names(tensors.ev.values(value, frame)))
        case tree.Name() | tree.Attribute():
            return any(returns_tensor(name) for name in external_names(tensors.ev.values(node, frame.parent or frame)))
    return False


def _is_forward(tensors: Tensors, frame: Frame) -> bool:
    """Whether this is the `forward` of a network."""
    if frame.scope.name != "forward" or frame.parent is None:
        return False
    cls, around = frame.parent.scope.node, frame.parent.parent
    if not isinstance(cls, tree.ClassDef) or around is None:
        return False
    return is_network_class(tensors.ev, ClassValue(cls, around))
