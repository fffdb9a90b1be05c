"""What form the inputs of an operation have, in one of its runs: of a module, where the object is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Condition
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.ops.criterion_runs import runs_of
from torchrepro_lint.program.ops.dimensions import dimensions
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.tensors import tensor

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["FORMS", "has_form"]

#: Tests that the form of an input decides.
FORMS: Final = frozenset({"ndim-at-least", "is-class-index"})
#: Targets that are called after classes, and those that are called after their chances.
_CLASSES: Final = function_words("class_targets")
_CHANCES: Final = function_words("soft_targets")


def has_form(ev: Evaluator, operation: Operation, condition: Condition) -> bool | None:
    """Whether an input has the form that a condition asks for in some run of the operation; None where none shows."""
    place = 1 if condition.parameter in ("target", "targets") else 0
    inputs = list(_inputs(ev, operation, condition.parameter, place))
    if condition.test == "is-class-index":
        return any(_is_class_index(ev, node, frame) for node, frame in inputs) or None
    least = condition.values[0]
    assert isinstance(least, int)
    return any(dimensions(ev, node, frame) >= least for node, frame in inputs) or None


def _inputs(ev: Evaluator, operation: Operation, parameter: str, place: int) -> Iterator[tuple[tree.Expr, Frame]]:
    """What is given for a parameter in each run that is seen, with the frame of the run."""
    if operation.is_method and place == 0:
        if isinstance(operation.call.func, tree.Attribute):
            yield operation.call.func.value, operation.frame
        return
    runs = runs_of(ev, operation.site) if operation.is_module else [(operation.call, operation.frame)]
    for call, frame in runs:
        for index, arg in enumerate(call.args):
            if not arg.star and (arg.keyword == parameter or (arg.keyword is None and index == place)):
                yield arg.value, frame


def _is_class_index(ev: Evaluator, node: tree.Expr, frame: Frame) -> bool:
    found = tensor(ev, node, frame)
    if found is not None and found.floating is not None:
        return not found.floating
    words = [one for one in _words(node) if _CLASSES.search(one) or _CHANCES.search(one)]
    return bool(words) and not any(map(_CHANCES.search, words))


def _words(node: tree.Expr) -> Iterator[str]:
    """The names in an expression for a target: `batch["mask"]`, `labels.squeeze(1).to(device)`, `self.target`."""
    while True:
        match node:
            case tree.Name(id=word):
                yield word
                return
            case tree.Attribute(value=value, attr=word):
                yield word
                node = value
            case tree.Subscript(value=value, index=index):
                if isinstance(index, tree.Const) and isinstance(index.value, str):
                    yield index.value
                node = value
            case tree.Call(func=func):
                node = func
            case _:
                return
