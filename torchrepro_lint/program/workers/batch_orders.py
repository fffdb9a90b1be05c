"""Draws of a collate function that only put the rows of a batch in another order: what is computed of a batch is the
same in any order of its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.loaders.worker_runs import COLLATES
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.parents import Parents, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.running.events import Event

__all__ = ["only_orders_a_batch"]


def only_orders_a_batch(ev: Evaluator, event: Event) -> bool:
    """Whether a collate function draws an order of all indices, and all that reads it puts rows in that order:
    `images = images[order]`. What is put beside the rows in their first order, as for a mixup, is another thing.
    """
    if event.frame is None or event.call is None or not any(link.note == COLLATES for link in event.chain):
        return False
    parents, scope = parents_of(ev, event.frame.facts), event.frame.scope
    match parents.target_of(event.call):
        case tree.Name(id=name) if _is_of_all(event.call):
            binding = next((one for one in scope.bindings.get(name, ()) if one.node is event.call), None)
            if binding is None:
                return False
            uses = [use for use, _ in binding_uses(parents, event.frame.facts, scope, binding)]
            return bool(uses) and all(_reorders(parents, use) for use in uses)
    return False


def _is_of_all(call: tree.Call) -> bool:
    """Whether a call permutes all that it is given: `permutation(n)`, `choice(range(n), size=n, replace=False)`."""
    if called_name(call.func) in method_words("permutations", "makes"):
        return True
    given = {arg.keyword: arg.value for arg in call.args if arg.keyword}
    match call.args, given.get("replace"):
        case (tree.Arg(value=rows, keyword=None), *rest), tree.Const(value=False) if called_name(call.func) == "choice":
            positional = [arg.value for arg in rest if arg.keyword is None and not arg.star]
            size = given.get("size", positional[0] if positional else None)
            return size is not None and _said(size) == _said(_number_of(rows)) != ""
    return False


def _number_of(rows: tree.Expr) -> tree.Expr:
    """How many indices an expression stands for: that of `n`, `range(n)` and `np.arange(0, n)` is `n`."""
    match rows:
        case (
            tree.Call(args=(tree.Arg(value=tree.Const(value=0)), tree.Arg(value=number)))
            | tree.Call(args=(tree.Arg(value=number),))
        ) if called_name(rows.func) in ("arange", "range"):
            return number
    return rows


def _said(number: tree.Expr) -> str:
    """A number as it is written, `n`, `self.size`, `len(batch)` or `32`; "" for what is computed."""
    match number:
        case tree.Const(value=int() as value):
            return str(value)
        case tree.Call(func=tree.Name(id="len"), args=(tree.Arg(value=counted),)):
            name = dotted_name(counted)
            return f"len({name})" if name is not None else ""
    return dotted_name(number) or ""


def _reorders(parents: Parents, use: tree.Name) -> bool:
    """Whether an order is used to give a name its own rows in that order."""
    match parents.of(use):
        case tree.Subscript(value=tree.Name(id=rows), index=index) as ordered if index is use:
            return is_named(parents.target_of(ordered), rows)
    return False
