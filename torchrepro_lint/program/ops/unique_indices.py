"""Whether an index has no number twice along the dimension of an operation, or one place there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Values
from torchrepro_lint.program.ops.made_indices import is_made_with_one_place
from torchrepro_lint.program.ops.op_arguments import argument_of, numbers_of, unmoved
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.single_dimensions import single_by_index
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.callers import all_calls
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_stored_data", "is_unique"]

_MAX_MOVES = 4  # of one name, bound again
_MAX_CALLS = 2  # up from the operation to where the index gets its form


def is_unique(ev: Evaluator, operation: Operation, index: tree.Expr) -> bool:
    """Whether an index has one place along the dimension, or none that comes twice."""
    frame = operation.frame
    written = _form_of(index, frame)
    if _is_viewed_as_one_number(written):
        return True
    dimension = argument_of(operation, "dim", 0)
    if dimension is not None and _shows_one_place(ev, written, ev.values(dimension, frame), frame, _MAX_CALLS):
        return True
    places = numbers_of(ev.values(dimension, frame)) if dimension is not None else []
    if len(places) == 1 and is_made_with_one_place(ev, index, places[0], frame):
        return True
    found = tensor(ev, index, frame)
    if (found is not None and found.distinct) or _is_named_a_permutation(written):
        return True
    if found is None or dimension is None or not found.single:
        return False
    numbers = numbers_of(ev.values(dimension, frame))
    return any(numbers in ([place], [-place]) for place in found.single)


def is_stored_data(ev: Evaluator, index: tree.Expr, frame: Frame) -> bool:
    """Whether an index is cast where it is used and nothing shows its form: `actions.long()`, as labels and actions are
    stored, with one for each row. Indices that torch has computed need no cast. Or it is joined of what a replay buffer
    has stored: `torch.cat(batch.action)`, as in PyTorch's tutorial on deep Q-learning.
    """
    written = _form_of(index, frame)
    if written is not index and _is_field_of_a_batch(written, frame.scope):
        return True
    if _is_joined_field(_form_of(_without_new_dimensions(written), frame), frame.scope):
        return True
    if written is index or not isinstance(written, tree.Name) or not _is_parameter(written, frame.scope):
        return False
    parameter = parameter_of(frame.scope, written.id)
    handed = [(written_argument(call, parameter), at) for call, at in all_calls(ev, frame.facts, frame.scope)]
    return all(isinstance(_form_of(given, at), tree.Name) for given, at in handed if given is not None)


def _is_field_of_a_batch(node: tree.Expr, scope: Scope) -> bool:
    """Whether something is read out of an object that a replay buffer or a loader gave, by its name one number for each
    row: `batch.actions`, `batch["labels"]`.
    """
    match node:
        case (
            tree.Attribute(value=tree.Name(id=owner), attr=name)
            | tree.Subscript(value=tree.Name(id=owner), index=tree.Const(value=str() as name))
        ):
            return owner != scope.self_name and _ONE_FOR_EACH.search(name) is not None
    return False


def _is_joined_field(node: tree.Expr, scope: Scope) -> bool:
    """Whether something joins such a field, `torch.cat(batch.action)`, of which each entry is one row."""
    match node:
        case tree.Call(
            func=tree.Attribute(value=tree.Name(id="torch"), attr="cat" | "stack" | "tensor"),
            args=(tree.Arg(value=joined), *_),
        ):
            return _is_field_of_a_batch(joined, scope)
    return False


def _without_new_dimensions(node: tree.Expr) -> tree.Expr:
    """What gets further dimensions at its end: `actions` of `actions.unsqueeze(-1).expand(-1, -1, n)`."""
    while isinstance(node, tree.Call) and isinstance(node.func, tree.Attribute):
        sizes = [_written_number(arg.value) for arg in node.args]
        if not (node.func.attr == "unsqueeze" and sizes == [-1]) and not (
            node.func.attr == "expand" and all(size == -1 for size in sizes[:-1])
        ):
            break
        node = node.func.value
    return node


def _form_of(index: tree.Expr, frame: Frame) -> tree.Expr:
    """The expression that gives an index its form: `labels.unsqueeze(1)` for `labels.unsqueeze(1).long() + 1`, also
    where the name is bound again to what is moved, `labels = labels.to(device)`.
    """
    if isinstance(index, tree.Binary) and isinstance(index.right, tree.Const):
        index = index.left
    for _ in range(_MAX_MOVES):
        written = _unclamped(unmoved(_written_as(index, frame)), frame)
        if written is index or not isinstance(written, tree.Name):
            return written
        index = written
    return index


def _shows_one_place(ev: Evaluator, written: tree.Expr, dimension: Values, frame: Frame, calls_up: int) -> bool:
    """Whether an expression shows that it has one place along the dimension, or all calls that are seen do so of what
    they hand to a parameter.
    """
    if _is_written_with_one_place(ev, written, dimension, frame):
        return True
    if not calls_up or not isinstance(written, tree.Name) or not _is_parameter(written, frame.scope):
        return False
    parameter = parameter_of(frame.scope, written.id)
    handed = [(written_argument(call, parameter), at) for call, at in all_calls(ev, frame.facts, frame.scope)]
    return bool(handed) and all(
        given is not None and _shows_one_place(ev, _form_of(given, at), dimension, at, calls_up - 1)
        for given, at in handed
    )


def _is_parameter(node: tree.Name, scope: Scope) -> bool:
    bindings, certain = scope.reaching(node.id, node.site)
    return certain and [one.kind for one in bindings] == ["param"]


def _is_viewed_as_one_number(written: tree.Expr) -> bool:
    """`index.view(1)`, `index.reshape(1, 1)`."""
    match written:
        case tree.Call(func=tree.Attribute(attr="view" | "reshape"), args=(_, *_) as sizes):
            return all(_written_number(size.value) == 1 for size in sizes)
    return False


def _is_written_with_one_place(ev: Evaluator, written: tree.Expr, dimension: Values, frame: Frame) -> bool:
    """Whether the expression of an index, be it a tensor or not, shows that it has one place along the dimension."""
    numbers = numbers_of(dimension)
    match written:
        case tree.Call(func=tree.Attribute(attr="unsqueeze"), args=(tree.Arg(value=place), *_)):
            return _is_same_dimension(ev.values(place, frame), dimension)
        case tree.Subscript(index=tree.Display(items=(*_, tree.Const(value=None)))):
            return numbers in ([-1], [1], [2])
        case tree.Call(func=tree.Attribute(value=base, attr="expand"), args=sizes):
            return len(numbers) == 1 and _has_one_place(base, [arg.value for arg in sizes], numbers[0])
        case tree.Call(
            func=tree.Attribute(attr="view" | "reshape"), args=(_, *_, tree.Arg(value=tree.Const(value=1))) as sizes
        ):
            return numbers in ([len(sizes) - 1], [-1])
    return False


_ONE_FOR_EACH: Final = function_words("one_for_each")
_PERMUTATION: Final = function_words("permuted_places")


def _is_named_a_permutation(node: tree.Expr) -> bool:
    """`ids_restore.unsqueeze(-1).repeat(1, 1, size)`: what a masked autoencoder calls the way back."""
    other_forms = method_words("tensor_moves") | method_words("tensor_moves", "other_forms")
    while True:
        match node:
            case tree.Call(func=tree.Attribute(value=owner, attr=attr)) if attr in other_forms:
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
    numbers = numbers_of(first), numbers_of(second)
    return first == second != frozenset() or numbers in (([-1], [1]), ([1], [-1]), ([-1], [2]))


def _unclamped(node: tree.Expr, frame: Frame) -> tree.Expr:
    """What is clamped, `torch.clamp(labels, min=0)`: the form stays."""
    match node:
        case tree.Call(
            func=tree.Attribute(value=tree.Name(id="torch"), attr="clamp"), args=(tree.Arg(value=inner), *_)
        ):
            return unmoved(_written_as(inner, frame))
        case tree.Call(func=tree.Attribute(value=inner, attr="clamp")):
            return unmoved(_written_as(inner, frame))
    return node


def _adds_a_dimension_to(made: object, name: str) -> bool:
    match made:
        case tree.Call(func=tree.Attribute(value=tree.Name(id=owner), attr="unsqueeze")):
            return owner == name
    return False


def _written_as(node: tree.Expr, frame: Frame) -> tree.Expr:
    """The expression behind a local name that is bound once, or is given the dimension that it may lack."""
    if isinstance(node, tree.Name):
        bindings, certain = frame.scope.reaching(node.id, node.site)
        # `if labels.dim() < scores.dim(): labels = labels.unsqueeze(-1)`: else they have the dimension already.
        shaped = [one for one in bindings if _adds_a_dimension_to(one.node, node.id)]
        is_told = certain if len(bindings) == 1 else len(shaped) == 1
        only = (shaped or bindings)[0] if is_told else None
        if only is not None and only.kind == "assign" and isinstance(only.node, (tree.Call, tree.Subscript)):
            return only.node if not only.unpack else node
    return node
