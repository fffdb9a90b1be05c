"""What is known about a tensor, and what becomes of that in a call of a function or a method of torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.tensors import (
    dtype_is_floating,
    gives_trait,
    keeps_trait,
    made_on_cpu,
    result_is_floating,
    takes_no_weights,
    tensor_methods,
)
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.torch_devices import device_name
from torchrepro_lint.program.evaluation.values import Arguments, Constant, External, Value, Values
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ops.distinct_numbers import are_distinct
from torchrepro_lint.program.ops.single_dimensions import single_by_call

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["OUTPUT", "SOME", "Tensor", "joined", "moved", "of_function", "of_method", "one_of_several", "parameter"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """What is known about a tensor. `on_cpu`: proven to live on the CPU. `floating`: of a floating-point type; `grad`:
    whether gradients flow back to it; None where that is not known. `distinct`: numbers of which none comes twice, as
    in a permutation; of a tensor with several dimensions, along the one that they count. `apart`: none comes twice in
    the whole tensor, so that it may take another shape. `whole`: numbers without a fraction, in whatever type, so that
    their sum is the same in any order. `single`: dimensions in which it has one place.
    """

    on_cpu: bool = False
    floating: bool | None = None
    grad: bool | None = None
    distinct: bool = False
    whole: bool = False
    apart: bool = False
    single: frozenset[int] = frozenset()

    @property
    def is_exact(self) -> bool:
        """Whether sums of the numbers are exact."""
        return self.whole or self.floating is False

    def joined(self, other: Tensor) -> Tensor:
        """What holds for both."""
        return Tensor(
            self.on_cpu and other.on_cpu,
            self.floating if self.floating == other.floating else None,
            self.grad if self.grad == other.grad else None,
            self.distinct and other.distinct,
            self.is_exact and other.is_exact,
            self.apart and other.apart,
            self.single & other.single,
        )


def joined(found: Iterable[Tensor | None]) -> Tensor | None:
    """What holds for all that are tensors; None where none is."""
    result: Tensor | None = None
    for one in found:
        if one is not None:
            result = one if result is None else result.joined(one)
    return result


SOME = Tensor()
OUTPUT = Tensor(floating=True, grad=True)  # what a network or a parameter gives


# What is counted or marked: a cast makes floats of it that are whole.
_MARKS: Final = function_words("counted_or_marked")


def parameter(arguments: Arguments | None) -> Tensor:
    """A torch.nn.Parameter that is made with these arguments: it learns, unless `requires_grad` is False."""
    given, wanted = argument(arguments, "requires_grad", 1) if arguments is not None else (False, frozenset())
    is_fixed = given and wanted == frozenset((Constant(False),))
    return replace(OUTPUT, grad=False) if is_fixed else OUTPUT


def of_method(ev: Evaluator, found: Tensor, attr: str, node: tree.Call, frame: Frame) -> Tensor | None:
    """What a method of a tensor gives; None where that is not a tensor."""
    result = _of_method(ev, found, attr, node, frame)
    if result is None:
        return None
    kept = keeps_trait(attr, "distinct") or (attr == "repeat" and _repeats_the_last_alone(node))
    apart = gives_trait(attr, "apart") or (found.apart and keeps_trait(attr, "apart")) or _lays_places_in_line(node)
    distinct = apart or gives_trait(attr, "distinct") or (found.distinct and kept)
    is_cast = found.floating is None and result.floating is True and _is_marked(node.func)
    whole = gives_trait(attr, "whole") or ((found.is_exact or is_cast) and keeps_trait(attr, "whole"))
    single = single_by_call(ev, attr, node, frame, is_method=True)
    single |= found.single if keeps_trait(attr, "single") else frozenset()
    return replace(result, distinct=distinct, whole=whole, apart=apart, single=single)


def _lays_places_in_line(node: tree.Call) -> bool:
    """`mask.nonzero().flatten()`: nobody lays the places of several dimensions end to end, so the mask has one."""
    match node.func:
        case tree.Attribute(
            value=tree.Call(func=tree.Attribute(attr="nonzero")),
            attr="flatten" | "squeeze" | "ravel" | "view" | "reshape",
        ):
            sizes = [arg.value for arg in node.args]
            return len(sizes) < 2 and not any(isinstance(size, tree.Display) for size in sizes)
    return False


def _is_marked(node: tree.Expr) -> bool:
    """Whether an expression begins with the name of a mask, of labels or of counts, or joins such and comparisons."""
    while isinstance(node, (tree.Attribute, tree.Call, tree.Subscript)):
        node = node.func if isinstance(node, tree.Call) else node.value
    match node:
        case tree.Binary(op="*" | "+" | "-" | "&" | "|", left=left, right=right):
            return _is_marked(left) and _is_marked(right)
        case tree.Name(id=name):
            return _MARKS.search(name) is not None
    return isinstance(node, tree.Compare)


def _repeats_the_last_alone(node: tree.Call) -> bool:
    """`index.unsqueeze(-1).repeat(1, 1, size)`: the numbers stand beside themselves in another dimension only."""
    ones = [isinstance(arg.value, tree.Const) and arg.value.value == 1 for arg in node.args]
    return len(ones) > 1 and all(ones[:-1])


def _of_method(ev: Evaluator, found: Tensor, attr: str, node: tree.Call, frame: Frame) -> Tensor | None:
    if attr not in tensor_methods() and attr not in ("to", "cuda", "cpu", "detach"):
        return None
    if attr in ("to", "cuda", "cpu"):
        return moved(ev, found, attr, node, frame)
    if attr in method_words("tensor_casts", "floating"):
        return replace(found, floating=True)
    if attr in method_words("tensor_casts", "integer"):
        return replace(found, floating=False, grad=False)
    if attr == "detach":
        return replace(found, grad=False)
    if attr == "requires_grad_":
        return replace(found, grad=True)
    given = result_is_floating(f"torch.Tensor.{attr}")
    if given is None:
        return found
    return replace(found, floating=given, grad=found.grad if given else False)


def one_of_several(found: Tensor, name: str, place: int | None) -> Tensor:
    """What the function of torch `name` gives at one place of a tuple, for the tensor that it is given."""
    last = last_part(name)
    one = Tensor(on_cpu=found.on_cpu, grad=found.grad, whole=found.is_exact)
    if last in ("sort", "topk") and place == 1:
        return replace(one, floating=False, grad=False, distinct=True)
    if last in ("where", "nonzero"):  # the places that a mask marks
        return replace(one, floating=False, grad=False, distinct=True)
    if last in ("max", "min", "median", "nanmedian", "mode", "kthvalue") and place == 1:
        return replace(one, floating=False, grad=False)
    kept = (last in ("sort", "topk") and found.distinct) or last == "unique"
    return replace(one, distinct=kept and place == 0, apart=last == "unique" and place == 0)


def moved(ev: Evaluator, found: Tensor, attr: str, node: tree.Call, frame: Frame) -> Tensor:
    """A tensor after `.to(...)`, `.cuda()` or `.cpu()`."""
    if attr == "cpu":
        return replace(found, on_cpu=True)
    if attr == "cuda":
        return replace(found, on_cpu=False)
    for arg in node.args:
        if arg.keyword not in (None, "device", "dtype", "other"):
            continue
        values = ev.values(arg.value, frame)
        floating = _dtype(values)
        if floating is not None:
            found = replace(found, floating=floating, grad=found.grad if floating else False)
        elif arg.keyword != "dtype":
            found = replace(found, on_cpu=_is_cpu(values))
    return found


def of_function(ev: Evaluator, name: str, node: tree.Call, frame: Frame, inputs: list[Tensor]) -> Tensor:
    """What a call of a function of torch, or of a class of tensors, gives for the tensors among its arguments."""
    arguments = ev.arguments(node.args, frame)
    floating = _floating_of(name, node, inputs, arguments)
    grad = True if any(one.grad for one in inputs) else (False if floating is False else None)
    last = last_part(name)
    is_copied = made_on_cpu(name) and bool(node.args) and are_distinct(ev, node.args[0].value, frame)
    apart = gives_trait(last, "apart") or is_copied
    distinct = gives_trait(last, "distinct") or apart
    single = single_by_call(ev, last, node, frame, is_method=False)
    is_kept = keeps_trait(last, "whole") and bool(inputs) and inputs[0].is_exact
    whole = gives_trait(last, "whole") or is_kept
    if made_on_cpu(name):
        _, device = argument(arguments, "device", None)
        on_cpu = _is_cpu(device) if device else all(one.on_cpu for one in inputs) and not arguments.open_keywords
        given, wanted = argument(arguments, "requires_grad", None)
        is_leaf = not given or any(isinstance(value, Constant) and value.value is False for value in wanted)
        return Tensor(on_cpu, floating, not is_leaf, distinct, whole, apart)
    if name.endswith("Parameter"):
        return parameter(arguments)
    if name.endswith(".Buffer"):  # it moves with the module
        return replace(inputs[0] if inputs else SOME, on_cpu=False, grad=False)
    on_cpu = bool(inputs) and all(one.on_cpu for one in inputs)
    if inputs and all(one.grad is False for one in inputs) and grad is None and takes_no_weights(name):
        grad = False
    return Tensor(on_cpu, floating, grad, distinct, whole, apart, single)


def _floating_of(name: str, node: tree.Call, inputs: list[Tensor], arguments: Arguments) -> bool | None:
    given, values = argument(arguments, "dtype", None)
    if given:
        return _dtype(values)
    known = result_is_floating(name)
    if known is not None:
        return known
    if inputs:
        return inputs[0].floating
    return _literals_float(node.args[0].value) if node.args else None


def _literals_float(node: tree.Expr) -> bool | None:
    """Whether a literal of numbers makes a floating-point tensor."""
    match node:
        case tree.Const(value=value):
            return isinstance(value, float) if isinstance(value, (bool, int, float)) else None
        case tree.Unary(operand=operand):
            return _literals_float(operand)
        case tree.Display(items=items) if items:
            found = {_literals_float(item) for item in items}
            return True if True in found else (None if None in found else False)
    return None


def _dtype(values: Values) -> bool | None:
    """Whether a dtype is a floating-point one; None where it is none, or not known."""
    found = {dtype_is_floating(value.name) if isinstance(value, External) else None for value in values}
    return found.pop() if len(found) == 1 else None


def _is_cpu(values: Values) -> bool:
    """Whether a device is the CPU; with None it is that of the program, which is the CPU unless it says otherwise."""
    named = [value for value in values if not (isinstance(value, Constant) and value.value is None)]
    return bool(named) and all(_names_cpu(value) for value in named)


def _names_cpu(value: Value) -> bool:
    match value:
        case Constant(value="cpu"):
            return True
    return _is_cpu(device_name(value))
