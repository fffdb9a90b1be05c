"""Draws of a collate function that only put the rows of a batch in another order: what is computed of a batch is the
same in any order of its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Path, Scope
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
    """Whether a collate function draws an order of all indices, puts rows in that order, `images = images[order]`, and
    gives back these alone, each of them whole. What is put beside rows in their first order, as for a mixup or as
    another's label, is another thing, and so is what is cut off or paired by where it is.
    """
    if event.frame is None or event.call is None or [link.note == COLLATES for link in event.chain] != [True, False]:
        return False  # what another function gives back may be put beside anything
    parents, scope = parents_of(ev, event.frame.facts), event.frame.scope
    match parents.target_of(event.call):
        case tree.Name(id=name) if _is_of_all(event.call):
            binding = next((one for one in scope.bindings.get(name, ()) if one.node is event.call), None)
            if binding is None:
                return False
            rows = _Rows(parents, event.frame.facts, scope, scope.path_at(event.call.site))
            return rows.are_put_in_order(binding) and rows.are_given_back()
    return False


class _Rows:
    """The names of one function whose rows an order puts in another one, in the arms in which it is drawn."""

    def __init__(self, parents: Parents, facts: ModuleFacts, scope: Scope, arms: Path) -> None:
        self._parents = parents
        self._facts = facts
        self._scope = scope
        self._arms = arms
        self._names: set[str] = set()
        self._pending: list[Binding] = []

    def are_put_in_order(self, order: Binding) -> bool:
        """Whether all that reads the order puts rows into it."""
        uses = [use for use, _ in binding_uses(self._parents, self._facts, self._scope, order)]
        ordered = [self._ordered_by(use) for use in uses]
        if not uses or not all(one is not None and self._scope.path_at(one.site) == self._arms for one in ordered):
            return False
        self._pending = [binding for one in ordered if one is not None for binding in self._bindings_of(one)]
        self._names = {one.name for one in self._pending}
        return True

    def are_given_back(self) -> bool:
        """Whether all that reads the rows gives them back whole, counts them, or puts them in yet another order."""
        seen: set[int] = set()
        while self._pending:
            binding = self._pending.pop()
            if id(binding) in seen:
                continue
            seen.add(id(binding))
            for use, _ in binding_uses(self._parents, self._facts, self._scope, binding):
                again = self._again(use)
                if again is not None:
                    self._pending.extend(self._bindings_of(again))
                elif not self._is_counted(use) and not self._is_returned(use):
                    return False
        return True

    def _ordered_by(self, use: tree.Name) -> tree.Subscript | None:
        """The rows in the order that is read there, where they get the name that they had."""
        match self._parents.of(use):
            case tree.Subscript(value=tree.Name(id=rows), index=index) as ordered if index is use:
                return ordered if is_named(self._parents.target_of(ordered), rows) else None
        return None

    def _again(self, use: tree.Name) -> tree.Subscript | None:
        match self._parents.of(use):
            case tree.Subscript(value=value, index=tree.Name() as index) if value is use:
                return self._ordered_by(index)
        return None

    def _bindings_of(self, ordered: tree.Subscript) -> list[Binding]:
        assert isinstance(ordered.value, tree.Name)
        return [one for one in self._scope.bindings.get(ordered.value.id, ()) if one.node is ordered]

    def _is_counted(self, use: tree.Name) -> bool:
        match self._parents.of(use):
            case tree.Arg() as given:
                call = self._parents.of(given)
                return isinstance(call, tree.Call) and called_name(call.func) == "len"
            case tree.Attribute(attr=attr):
                return attr in ("shape", "size", "device", "dtype")
        return False

    def _is_returned(self, use: tree.Name) -> bool:
        for above in self._parents.around(use):
            match above:
                case tree.Display() | tree.DictDisplay():
                    continue
                case tree.Return(value=value):
                    return value is not None and self._are_rows(value)
            return False
        return False

    def _are_rows(self, value: tree.Expr) -> bool:
        match value:
            case tree.Name(id=name):
                return name in self._names
            case tree.Display(items=items):
                return all(map(self._are_rows, items))
            case tree.DictDisplay(items=entries):
                return all(self._are_rows(one) for _, one in entries)
        return isinstance(value, tree.Const)


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
