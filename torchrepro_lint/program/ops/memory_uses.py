"""What one use of a tensor does with the contents of its memory, followed outwards through what carries them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.contents import attribute_use, function_use, method_use
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.parents import Node, Parents

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["MemoryUse", "memory_use"]

_NO_CONTENTS = frozenset({"is", "is not", "in", "not in"})


@dataclass(frozen=True, slots=True, eq=False)
class MemoryUse:
    """`reads` what is in the memory, asks for its `form` alone, is `bound` to a name or attribute by the statement
    `at`, or does what is not known: it may write, or keep the tensor for code that writes.
    """

    kind: Literal["reads", "form", "bound", "unknown"]
    at: Node


def memory_use(ev: Evaluator, parents: Parents, node: tree.Expr, frame: Frame) -> MemoryUse:
    """What the expression around `node`, a tensor in this frame, does with its contents."""
    while True:
        above = parents.of(node)
        use, outer = _step(ev, parents, node, above, frame)
        if use != "carries":
            return MemoryUse(use, above or node)
        assert outer is not None
        node = outer


_Step = Literal["reads", "form", "bound", "unknown", "carries"]


def _step(
    ev: Evaluator, parents: Parents, node: tree.Expr, above: Node | None, frame: Frame
) -> tuple[_Step, tree.Expr | None]:
    match above:
        case tree.Attribute(attr=attr):
            outer = parents.of(above)
            if isinstance(outer, tree.Call) and outer.func is above:
                return method_use(attr) or "unknown", outer
            return attribute_use(attr) or "unknown", above
        case tree.Subscript(index=index) if index is node:
            return "reads", None
        case tree.Subscript():
            return _item(parents, above), above
        case tree.Arg(keyword=keyword, star=star) if keyword != "out" and not star:
            call = parents.of(above)
            return (_argument(ev, call, frame), call) if isinstance(call, tree.Call) else ("unknown", None)
        case tree.Unary(op="not"):
            return "unknown", None
        case tree.Compare(ops=ops):
            return ("form" if _NO_CONTENTS.issuperset(ops) else "reads"), None
        case tree.Binary() | tree.Unary() as result if _is_asked_for_its_form(parents, result):
            return "form", None
        case tree.Binary() | tree.Unary() | tree.FormatString() | tree.AugAssign():
            return "reads", None
        case tree.Assign(targets=targets):
            return ("bound" if len(targets) == 1 and node is not targets[0] else "unknown"), None
        case tree.ExprStmt() | tree.Delete():
            return "form", None
    return "unknown", None


def _is_asked_for_its_form(parents: Parents, result: tree.Expr) -> bool:
    """Whether nothing is asked of a result but its form, be it by the one local name that it gets.

    What is thrown away, as in `_ = torch.empty(1) + 1`, is computed for the time it takes.
    """
    match parents.of(result):
        case tree.ExprStmt():
            return True
        case tree.Assign(targets=(tree.Name(id=name),)):
            function = parents.function(result)
            uses = [use for use in parents.names.get(name, ()) if not parents.is_bound(use)]
            return (bool(uses) or name.startswith("_")) and all(
                parents.function(use) is function and _asks_for_the_form(parents, use) for use in uses
            )
    return _asks_for_the_form(parents, result)


def _asks_for_the_form(parents: Parents, node: tree.Expr) -> bool:
    match parents.of(node):
        case tree.Attribute(attr=attr) as above:
            outer = parents.of(above)
            is_called = isinstance(outer, tree.Call) and outer.func is above
            return (method_use(attr) if is_called else attribute_use(attr)) == "form"
    return False


def _item(parents: Parents, item: tree.Subscript) -> _Step:
    """`tensor[...]` is another look at the same memory, unless it is written to."""
    match parents.of(item):
        case tree.Assign(targets=targets) if any(target is item for target in targets):
            return "unknown"
        case tree.For(target=target) | tree.Clause(target=target) if target is item:
            return "unknown"
        case tree.Display():
            return "unknown"
    return "carries"


def _argument(ev: Evaluator, call: tree.Call, frame: Frame) -> _Step:
    values = ev.values(call.func, frame)
    uses = {function_use(value.name) if isinstance(value, External) else None for value in values}
    if len(uses) == 1 and (only := next(iter(uses))) is not None:
        return only
    if isinstance(call.func, tree.Attribute) and tensor(ev, call.func.value, frame) is not None:
        return function_use(f"torch.Tensor.{call.func.attr}") or "unknown"
    return "unknown"
