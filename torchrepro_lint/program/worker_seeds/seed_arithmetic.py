"""How operators and items change what a number depends on.

`torch.initial_seed()` in a worker is the base seed of the epoch plus the worker id, 63 bits wide. Its lower bits
tell the workers apart, its upper ones are the same in all of them; what is cut off decides.
"""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Constant, Values
from torchrepro_lint.program.worker_seeds.dependence import Dependence, Term

__all__ = ["combined", "of_item"]

#: A quotient by at least this much is the same for neighbouring seeds.
_MANY_WORKERS = 1024
_WHOLE_RANGE = 2**32


def combined(op: str, left: Dependence, right: Dependence, right_values: Values) -> Dependence:
    """What `left op right` depends on; `right_values` is what the right side can be."""
    both = left | right
    number = _one_number(right_values)
    match op:
        case "%":
            return Dependence(both.terms, left.wide and number is not None and number > _WHOLE_RANGE)
        case "&":
            return Dependence(both.terms, left.wide and number is not None and number >= _WHOLE_RANGE)
        case "-" if left.wide and left.terms == {Term.TORCH_SEED} and right.terms == {Term.WORKER}:
            return Dependence(frozenset({Term.SHARED_SEED}), True)  # the base seed, taken back out
        case "//" | "/" if number is not None and number >= _MANY_WORKERS:
            return _upper(left)
        case ">>" if number is not None and 2**number >= _MANY_WORKERS:
            return _upper(left)
        case "//" | "/" | ">>" | "<<" | "**" | "@":
            return both.narrow
    return Dependence(both.terms, both.wide)


def _one_number(values: Values) -> int | None:
    if len(values) != 1:
        return None
    (value,) = values
    if isinstance(value, Constant) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
        return int(value.value) if abs(value.value) < 2**200 else None
    return None


def _upper(number: Dependence) -> Dependence:
    """The upper bits of a number: of a seed of torch's, with or without the worker id, no worker's own."""
    if number.has(Term.TORCH_SEED) and number.wide:
        return Dependence(number.terms - {Term.TORCH_SEED, Term.WORKER} | {Term.SHARED_SEED})
    return number.narrow


def of_item(owner: Dependence, value: tree.Expr, index: tree.Expr) -> Dependence:
    """What an item of something depends on."""
    if owner.has(Term.NUMPY_STATE) and isinstance(index, tree.Const) and index.value == 0 and _is_state_array(value):
        return Dependence(owner.terms - {Term.NUMPY_STATE} | {Term.NUMPY_WORD})
    if owner.has(Term.TORCH_SEED) and _is_head(index):
        return Dependence(owner.terms - {Term.TORCH_SEED} | {Term.SHARED_SEED})  # str(torch.initial_seed())[0:8]
    return owner.narrow


def _is_state_array(value: tree.Expr) -> bool:
    """Whether this can be the array of words in NumPy's state, and not the state itself, whose item 0 is a name."""
    return not isinstance(value, tree.Call)


def _is_head(index: tree.Expr) -> bool:
    match index:
        case tree.Opaque(parts=(tree.Const(value=0), tree.Const(value=int()))):
            return True
    return False
