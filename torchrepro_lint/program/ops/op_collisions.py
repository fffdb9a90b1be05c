"""Whether anything can meet in an operation that adds where things meet: else its order does not matter.

Torch alerts on the operation whatever its arguments are. Two runs differ only where two windows overlap, or an index
comes twice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, SequenceValue, Values
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.single_dimensions import single_by_index
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["adds_exactly", "never_collides"]


def never_collides(ev: Evaluator, operation: Operation, row: OpRow) -> bool:
    """Whether the arguments prove that no two addends meet."""
    if row.flags & {"pooled", "counts"}:
        return True
    if "windows" in row.flags:
        return _windows_are_apart(ev, operation)
    if "padding" in row.flags:
        kernel = _argument(operation, "kernel_size", 2)
        numbers = _numbers(ev.values(kernel, operation.frame)) if kernel is not None else []
        return bool(numbers) and set(numbers) == {1}  # nothing is padded
    if "bins" in row.flags:
        return _may_be_one_bin(ev, operation)
    if "ties" in row.flags:
        return _takes_values_alone(ev, operation)
    if "indices" in row.flags:
        if operation.name.endswith((".scatter", ".scatter_")) and _argument(operation, "reduce", 3) is None:
            return True  # a plain assignment
        if operation.name.endswith(".take_along_dim"):
            index = _argument(operation, "indices", 0)
        else:
            index = _argument(operation, "index", 0 if operation.name.endswith((".take", ".put_")) else 1)
        if index is not None and _is_unique(ev, operation, index):
            return True
        return _is_one_value(operation) or _is_one_for_each_row(ev, operation)
    return False


def adds_exactly(ev: Evaluator, operation: Operation, row: OpRow) -> bool:
    """Whether only whole numbers are added: their sum is the same in any order."""
    subject = operation.subject
    if subject is None or row.effect != "made_deterministic":
        return False
    if subject.floating is False:
        return True
    parameter = _SOURCES.get(operation.name.rpartition(".")[2])
    if parameter is None:
        return row.op == "torch.cumsum" and subject.whole
    source = _argument(operation, *parameter)
    added = tensor(ev, source, operation.frame) if source is not None else None
    return added is not None and added.is_exact


#: What is written or added, by the last part of the name: its parameter, and its place behind the tensor.
_SOURCES = {
    **dict.fromkeys(("scatter", "scatter_", "scatter_add", "scatter_add_"), ("src", 2)),
    **dict.fromkeys(("index_add", "index_add_", "index_copy", "index_copy_"), ("source", 2)),
    **dict.fromkeys(("put", "put_"), ("source", 1)),
}


_FILLED = frozenset(
    {"ones", "zeros", "ones_like", "zeros_like", "full", "full_like", "new_ones", "new_zeros", "new_full", "fill_"}
)


def _is_one_value(operation: Operation) -> bool:
    """Whether what is written or added is the same everywhere, so that the order does not matter."""
    parameter = _SOURCES.get(operation.name.rpartition(".")[2])
    source = _argument(operation, *parameter) if parameter is not None else None
    if source is None or (parameter == ("src", 2) and _argument(operation, "reduce", 3) is not None):
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
        case tree.Call(func=tree.Name(id="Variable"), args=(tree.Arg(value=inner), *_)):  # of torch before 0.4
            return _is_filled(inner)
        case tree.Call(func=tree.Attribute(value=owner, attr=name)):
            return name in _FILLED or (name in _MOVES and _is_filled(owner))
    return False


def _unmoved(node: tree.Expr) -> tree.Expr:
    """An expression without `.to(...)`, `.cuda()`, `.long()` and the like behind it."""
    while isinstance(node, tree.Call) and isinstance(node.func, tree.Attribute) and node.func.attr in _MOVES:
        node = node.func.value
    return node


_MOVES = frozenset({"to", "cuda", "long", "int", "float", "type_as", "contiguous"})


def _argument(operation: Operation, name: str, position: int) -> tree.Expr | None:
    """The expression for a parameter, whose `position` is counted without the tensor operated upon."""
    shift = 0 if operation.is_method or operation.is_module else 1
    for place, arg in enumerate(operation.call.args):
        if arg.star:
            return None
        if arg.keyword == name or (arg.keyword is None and place == position + shift):
            return arg.value
    return None


def _windows_are_apart(ev: Evaluator, operation: Operation) -> bool:
    """Whether the stride is left out, which makes it the size of the window, or is no smaller."""
    size, stride = _argument(operation, "kernel_size", 0), _argument(operation, "stride", 1)
    if stride is None:
        return not any(arg.star for arg in operation.call.args)
    if size is None:
        return False
    steps, sizes = ev.values(stride, operation.frame), ev.values(size, operation.frame)
    if steps == frozenset((Constant(None),)):
        return True
    wide, far = _numbers(sizes), _numbers(steps)
    return bool(wide) and bool(far) and max(wide) <= min(far)


def _may_be_one_bin(ev: Evaluator, operation: Operation) -> bool:
    """Whether the output size is not proven to be another one than 1: with 1, each element is in one window."""
    size = _argument(operation, "output_size", 0)
    numbers = _numbers(ev.values(size, operation.frame)) if size is not None else []
    return not any(number != 1 for number in numbers)


def _takes_values_alone(ev: Evaluator, operation: Operation) -> bool:
    """Whether of the values and the indices only the values are taken: `.median(dim=1)[0]`, `.values`."""
    above = parents_of(ev, operation.frame.facts).of(operation.call)
    match above:
        case tree.Attribute(attr="values") | tree.Subscript(index=tree.Const(value=0)):
            return True
        case tree.Assign(targets=(tree.Display(items=(_, tree.Name(id=name))),)):
            return name.startswith("_")
    return False


def _numbers(values: Values) -> list[int]:
    """The integers that one value is or consists of; none where that is not known."""
    value = next(iter(values)) if len(values) == 1 else None
    if isinstance(value, Constant) and type(value.value) is int:
        return [value.value]
    if isinstance(value, SequenceValue) and value.items:
        parts = [_numbers(item) for item in value.items]
        return [part[0] for part in parts] if all(len(part) == 1 for part in parts) else []
    return []


def _is_one_for_each_row(ev: Evaluator, operation: Operation) -> bool:
    """Whether what is gathered loses its dimension at once, since it has one place there: `.gather(1, i).squeeze()`,
    `.gather(-1, i)[..., 0]`. Of several places of which one is taken, the others add zeros.
    """
    parents = parents_of(ev, operation.frame.facts)
    above = parents.of(operation.call)
    match above:
        case tree.Subscript(index=tree.Display(items=parts)) if operation.name.endswith(".gather"):
            dimension = _argument(operation, "dim", 0)
            numbers = _numbers(ev.values(dimension, operation.frame)) if dimension is not None else []
            return len(numbers) == 1 and _takes_one(parts, numbers[0])
    called = parents.of(above) if above is not None else None
    if not operation.name.endswith(".gather") or not isinstance(called, tree.Call) or called.func is not above:
        return False
    match above:
        case tree.Attribute(attr="squeeze"):
            return True
        case tree.Attribute(attr="view" | "reshape" | "flatten"):
            sizes = [_numbers(ev.values(arg.value, operation.frame)) for arg in called.args]
            return sizes in ([], [[-1]])
    return False


def _takes_one(parts: tuple[tree.Expr, ...], dimension: int) -> bool:
    """Whether an index takes one place of a dimension: `[:, 0]` of 1, `[..., 0]` of -1."""
    has_dots = any(isinstance(part, tree.Const) and part.value is ... for part in parts)
    if not -len(parts) <= dimension < len(parts) or (has_dots if dimension >= 0 else not has_dots):
        return False
    part = parts[dimension]
    return isinstance(part, tree.Const) and type(part.value) is int


def _is_unique(ev: Evaluator, operation: Operation, index: tree.Expr) -> bool:
    """Whether an index has one place along the dimension, or none that comes twice."""
    frame = operation.frame
    written = _unmoved(_written_as(index, frame))
    dimension = _argument(operation, "dim", 0)
    if dimension is not None and _is_written_with_one_place(ev, written, ev.values(dimension, frame), frame):
        return True
    found = tensor(ev, index, frame)
    if (found is not None and found.distinct) or _is_named_a_permutation(written):
        return True
    if found is None or dimension is None or not found.single:
        return False
    numbers = _numbers(ev.values(dimension, frame))
    return any(numbers in ([place], [-place]) for place in found.single)


def _is_written_with_one_place(ev: Evaluator, written: tree.Expr, dimension: Values, frame: Frame) -> bool:
    """Whether the expression of an index, be it a tensor or not, shows that it has one place along the dimension."""
    numbers = _numbers(dimension)
    match written:
        case tree.Call(func=tree.Attribute(attr="unsqueeze"), args=(tree.Arg(value=place), *_)):
            return _is_same_dimension(ev.values(place, frame), dimension)
        case tree.Subscript(index=tree.Display(items=(*_, tree.Const(value=None)))):
            return numbers in ([-1], [1], [2])
        case tree.Call(func=tree.Attribute(value=base, attr="expand"), args=sizes):
            return len(numbers) == 1 and _has_one_place(base, [arg.value for arg in sizes], numbers[0])
        case tree.Call(func=tree.Attribute(attr="view" | "reshape"), args=(_, tree.Arg(value=tree.Const(value=1)))):
            return numbers in ([1], [-1])
    return False


_PERMUTATION = re.compile(
    r"(?:ids|idx|index|indices)_(?:un)?(?:restore|shuffle|keep|perm)\w*|(?:restore|shuffle|un_?shuffle)_\w+"
    r"|(?:\w+_)?(?:perm|permutation)"
)
_OTHER_FORMS = _MOVES | {"unsqueeze", "expand", "expand_as", "repeat"}


def _is_named_a_permutation(node: tree.Expr) -> bool:
    """`ids_restore.unsqueeze(-1).repeat(1, 1, size)`: what a masked autoencoder calls the way back."""
    while True:
        match node:
            case tree.Call(func=tree.Attribute(value=owner, attr=attr)) if attr in _OTHER_FORMS:
                node = owner
            case tree.Subscript(value=owner, index=index) if single_by_index(index):
                node = owner
            case tree.Name(id=name) | tree.Attribute(attr=name) | tree.Subscript(index=tree.Const(value=str() as name)):
                return _PERMUTATION.fullmatch(name) is not None
            case _:
                return False


def _has_one_place(base: tree.Expr, sizes: list[tree.Expr], dimension: int) -> bool:
    """`i[:, None, None].expand(-1, -1, n)` has one place along 1 and -2, `i.expand(-1, 1)` along 1 and -1."""
    if not -len(sizes) <= dimension < len(sizes):
        return False
    size = _written_number(sizes[dimension])
    parts = base.index.items if isinstance(base, tree.Subscript) and isinstance(base.index, tree.Display) else ()
    is_new = len(parts) == len(sizes) and isinstance(parts[dimension], tree.Const)
    return size == 1 or (size == -1 and is_new)


def _written_number(node: tree.Expr) -> object:
    match node:
        case tree.Const(value=value):
            return value
        case tree.Unary(op="-", operand=tree.Const(value=int() as value)):
            return -value
    return None


def _is_same_dimension(first: Values, second: Values) -> bool:
    """Whether two numbers of a dimension are one; of an index that has got a dimension, -1 is 1."""
    numbers = _numbers(first), _numbers(second)
    return first == second != frozenset() or numbers in (([-1], [1]), ([1], [-1]), ([-1], [2]))


def _written_as(node: tree.Expr, frame: Frame) -> tree.Expr:
    """The expression behind a local name that is bound once."""
    if isinstance(node, tree.Name):
        bindings, certain = frame.scope.reaching(node.id, node.site)
        only = bindings[0] if len(bindings) == 1 and certain else None
        if only is not None and only.kind == "assign" and isinstance(only.node, (tree.Call, tree.Subscript)):
            return only.node if not only.unpack else node
    return node
