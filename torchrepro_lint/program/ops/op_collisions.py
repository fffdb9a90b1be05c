"""Whether anything can meet in an operation that adds where things meet: else its order does not matter.

Torch alerts on the operation whatever its arguments are. Two runs differ only where two windows overlap, or an index
comes twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import written_alike
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.program.evaluation.values import Constant, SequenceValue
from torchrepro_lint.program.ops.op_arguments import argument_of, numbers_of
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.ops.unique_indices import is_stored_data, is_unique
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["adds_exactly", "never_collides"]


def never_collides(ev: Evaluator, operation: Operation, row: OpRow) -> bool:
    """Whether the arguments prove that no two addends meet."""
    if row.flags & {"pooled", "pairs"}:
        return True
    if "counts" in row.flags:
        return not _is_weighted(operation)
    if "windows" in row.flags:
        return _windows_are_apart(ev, operation)
    if "padding" in row.flags:
        kernel = argument_of(operation, "kernel_size", 2)
        numbers = numbers_of(ev.values(kernel, operation.frame)) if kernel is not None else []
        return bool(numbers) and set(numbers) == {1}  # nothing is padded
    if "bins" in row.flags:
        return _meet_in_pairs(ev, operation)
    if "ties" in row.flags:
        return _takes_values_alone(ev, operation)
    if "indices" in row.flags:
        if operation.name.endswith((".scatter", ".scatter_")) and argument_of(operation, "reduce", 3) is None:
            return True  # a plain assignment
        if operation.name.endswith(".take_along_dim"):
            index = argument_of(operation, "indices", 0)
        else:
            index = argument_of(operation, "index", 0 if operation.name.endswith((".take", ".put_")) else 1)
        if index is not None and is_unique(ev, operation, index):
            return True
        if index is not None and operation.name.endswith(".gather") and is_stored_data(ev, index, operation.frame):
            return True
        return _is_one_value(operation) or _is_one_for_each_row(ev, operation)
    return False


def _is_weighted(operation: Operation) -> bool:
    """Whether a count adds weights in place of ones, or may."""
    if last_part(operation.name) != "bincount":
        return False
    return any(arg.star for arg in operation.args) or argument_of(operation, "weights", 0) is not None


def adds_exactly(ev: Evaluator, operation: Operation, row: OpRow) -> bool:
    """Whether only whole numbers are added, or nothing is: then the result is the same in any order."""
    if row.op == "torch.Tensor.index_reduce_" and _takes_an_extreme(ev, operation):
        return True
    subject = operation.subject
    if subject is None:
        return False
    if row.op == "torch.cumsum" and subject.whole:
        return True
    if row.effect != "made_deterministic":
        return False
    if subject.floating is False:
        return True
    parameter = _SOURCES.get(last_part(operation.name))
    if parameter is None:
        return False
    source = argument_of(operation, *parameter)
    if isinstance(source, tree.Name) and _COUNTS.fullmatch(source.id):
        return True
    added = tensor(ev, source, operation.frame) if source is not None else None
    return added is not None and added.is_exact


def _takes_an_extreme(ev: Evaluator, operation: Operation) -> bool:
    reduce = argument_of(operation, "reduce", 3)
    values = ev.values(reduce, operation.frame) if reduce is not None else frozenset()
    return bool(values) and values <= {Constant("amax"), Constant("amin")}


# `num_crops_per_image`, `image_num_crops`, `token_counts`: what is counted is whole.
_COUNTS: Final = function_words("counts")


#: What is written or added, by the last part of the name: its parameter, and its place after the tensor.
_SOURCES = {
    **dict.fromkeys(("scatter", "scatter_", "scatter_add", "scatter_add_"), ("src", 2)),
    **dict.fromkeys(("index_add", "index_add_", "index_copy", "index_copy_"), ("source", 2)),
    **dict.fromkeys(("put", "put_"), ("source", 1)),
}


def _is_one_value(operation: Operation) -> bool:
    """Whether what is written or added is the same everywhere, so that the order does not matter."""
    parameter = _SOURCES.get(last_part(operation.name))
    source = argument_of(operation, *parameter) if parameter is not None else None
    if source is None or (parameter == ("src", 2) and argument_of(operation, "reduce", 3) is not None):
        return False
    written: list[object] = [source]
    if isinstance(source, tree.Name):
        bindings, certain = operation.frame.scope.reaching(source.id, source.site)
        written = [binding.node if binding.kind == "assign" and certain else None for binding in bindings]
    return bool(written) and all(_is_filled(node) for node in written)


def _is_filled(node: object) -> bool:
    """Whether an expression is a number, or a tensor that is filled with one."""
    match node:
        case tree.Const():
            return True
        case tree.Unary(operand=inner) | tree.Call(func=tree.Name(id="float"), args=(tree.Arg(value=inner),)):
            return _is_filled(inner)
        case tree.Binary(left=left, right=right):
            return _is_filled(left) and _is_filled(right)
        case tree.Call(func=tree.Name(id="Variable"), args=(tree.Arg(value=inner), *_)):  # of torch before 0.4
            return _is_filled(inner)
        case tree.Call(func=tree.Attribute(value=owner, attr=name)):
            return name in method_words("one_number") or (name in method_words("tensor_moves") and _is_filled(owner))
    return False


def _windows_are_apart(ev: Evaluator, operation: Operation) -> bool:
    """Whether the stride is left out, which makes it the size of the window, or is not smaller; and the places of a
    window lie side by side.
    """
    last = last_part(operation.name).lower()
    first = 1 if last.startswith("lp") else 0  # behind the exponent
    size, stride = argument_of(operation, "kernel_size", first), argument_of(operation, "stride", first + 1)
    spread = argument_of(operation, "dilation", 3) if last.startswith("max") else None
    if any(arg.star for arg in operation.args):
        return False
    if spread is not None and set(numbers_of(ev.values(spread, operation.frame))) != {1}:
        return False
    if stride is None:
        return True
    if size is None:
        return False
    if written_alike(size, stride):
        return True
    steps, sizes = ev.values(stride, operation.frame), ev.values(size, operation.frame)
    if steps == frozenset((Constant(None),)):
        return True
    if not last.startswith("max") and set(numbers_of(steps)) == {1}:
        return True  # average pooling by steps of 1 has a kernel without atomics (measured, knowledge/ops.tsv)
    wide, far = numbers_of(sizes), numbers_of(steps)
    return bool(wide) and bool(far) and max(wide) <= min(far)


def _meet_in_pairs(ev: Evaluator, operation: Operation) -> bool:
    """Whether fewer than two dimensions of the output are proven to have another size than 1 or that of the input,
    which is left out as None. Along one dimension an element is in two neighbouring windows at most, and the sum of two
    gradients is the same in either order; along two it is in four.
    """
    size = argument_of(operation, "output_size", 0)
    values = ev.values(size, operation.frame) if size is not None else frozenset()
    only = next(iter(values)) if len(values) == 1 else None
    if isinstance(only, SequenceValue) and only.items:
        return sum(any(number != 1 for number in numbers_of(part)) for part in only.items) < 2
    return not any(number != 1 for number in numbers_of(values))


def _takes_values_alone(ev: Evaluator, operation: Operation) -> bool:
    """Whether of the values and the indices only the values are taken: `.median(dim=1)[0]`, `.values`."""
    above = parents_of(ev, operation.frame.facts).of(operation.call)
    match above:
        case tree.Attribute(attr="values") | tree.Subscript(index=tree.Const(value=0)):
            return True
        case tree.Assign(targets=(tree.Display(items=(_, tree.Name(id=name))),)):
            return name.startswith("_")
    return False


def _is_one_for_each_row(ev: Evaluator, operation: Operation) -> bool:
    """Whether what is gathered loses its dimension at once, since it has one place there: `.gather(1, i).squeeze()`,
    `.gather(-1, i)[..., 0]`. Of several places of which one is taken, the others add zeros.
    """
    parents = parents_of(ev, operation.frame.facts)
    above = parents.of(operation.call)
    match above:
        case tree.Subscript(index=tree.Display(items=parts)) if operation.name.endswith(".gather"):
            dimension = argument_of(operation, "dim", 0)
            numbers = numbers_of(ev.values(dimension, operation.frame)) if dimension is not None else []
            return len(numbers) == 1 and _takes_one(parts, numbers[0])
    called = parents.of(above) if above is not None else None
    if not operation.name.endswith(".gather") or not isinstance(called, tree.Call) or called.func is not above:
        return False
    match above:
        case tree.Attribute(attr="squeeze"):
            return True
        case tree.Attribute(attr="view" | "reshape" | "flatten"):
            sizes = [numbers_of(ev.values(arg.value, operation.frame)) for arg in called.args]
            return sizes in ([], [[-1]])
    return False


def _takes_one(parts: tuple[tree.Expr, ...], dimension: int) -> bool:
    """Whether an index takes one place of a dimension: `[:, 0]` of 1, `[..., 0]` of -1."""
    has_dots = any(isinstance(part, tree.Const) and part.value is ... for part in parts)
    if not -len(parts) <= dimension < len(parts) or (has_dots if dimension >= 0 else not has_dots):
        return False
    part = parts[dimension]
    return isinstance(part, tree.Const) and type(part.value) is int
