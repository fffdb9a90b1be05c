"""Names of rows that are drawn from a table, which tell one part of it from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.orders.order_places import name_uses
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.parents import Parents, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["parts_by_names"]

#: Methods, attributes and functions that give the values of a column.
_SAME_VALUES: Final = frozenset({"tolist", "to_list", "to_numpy", "unique", "copy", "values", "index"})
_COLLECTED: Final = frozenset({"list", "set", "tuple", "sorted", "frozenset"})


def parts_by_names(program: Program, call: KnownCall) -> bool:
    """Whether the values of a column of the drawn rows get a name, by which the rest of the table is told:
    `~table["id"].isin(ids)`, `table.drop(ids)`, `[one for one in table["id"] if one not in ids]`.
    """
    parents = parents_of(program.ev, call.facts)
    column = _column(parents, call.call, of_column=_is_of_column(call.call.func))
    if column is None:
        return False
    match parents.of(column):
        case tree.Assign(targets=(tree.Name() as target,)) | tree.AugAssign(target=tree.Name() as target, op="+"):
            return any(_leaves_out(parents, use) for use in name_uses(program, call.facts, target))
    return False


def _column(parents: Parents, rows: tree.Expr, *, of_column: bool) -> tree.Expr | None:
    """What the values of one column of a table become, or of its index; None where all of it goes on."""
    column = rows if of_column else None
    node = rows
    while True:
        above = parents.of(node)
        match above:
            case tree.Subscript(value=value, index=tree.Const(value=str())) if value is node:
                node = column = above
            case tree.Attribute(value=value, attr=attr) if value is node and attr in _SAME_VALUES:
                outer = parents.of(above)
                node = outer if isinstance(outer, tree.Call) and outer.func is above else above
                column = node if column is not None or attr == "index" else None
            case tree.Arg():
                outer = parents.of(above)
                if not isinstance(outer, tree.Call) or not any(is_named(outer.func, name) for name in _COLLECTED):
                    return column
                node = outer
                column = node if column is not None else None
            case _:
                return column


def _is_of_column(node: tree.Expr) -> bool:
    """Whether it is a method of one column: `table["id"].drop_duplicates().sample`."""
    while True:
        match node:
            case tree.Attribute(value=inner) | tree.Call(func=inner):
                node = inner
            case _:
                return isinstance(node, tree.Subscript) and isinstance(node.index, tree.Const)


def _leaves_out(parents: Parents, use: tree.Name) -> bool:
    above = parents.of(use)
    match above:
        case tree.Compare(ops=("not in",), comparators=(right,)):
            return right is use
        case tree.Arg():
            call = parents.of(above)
            if not isinstance(call, tree.Call) or called_name(call.func) not in ("isin", "drop"):
                return False
            outer = parents.of(call)
            return called_name(call.func) == "drop" or (isinstance(outer, tree.Unary) and outer.op == "~")
    return False
