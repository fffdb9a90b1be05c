"""Parts that are cut out of a table by position: `train = df[:n]`, `train, test = np.split(df, [n])`."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_words
from torchrepro_lint.program.orders.permutations import is_of_a_part, part_names
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Parents

__all__ = ["goes_to_a_part", "same_rows"]


def same_rows(parents: Parents, node: tree.Expr) -> tree.Expr:
    """What a table becomes whose rows stay in their order: `df.sample(frac=1).reset_index(drop=True)`."""
    method = parents.of(node)
    keeps = isinstance(method, tree.Attribute) and method.attr in ordering_words("rows_keeping")
    call = parents.of(method) if keeps else None  # type: ignore[arg-type]
    return same_rows(parents, call) if isinstance(call, tree.Call) else node


def goes_to_a_part(parents: Parents, table: tree.Expr) -> bool:
    """Whether some rows of a table, from one position to another, go by the name of a part of the data."""
    cut = _cut(parents, same_rows(parents, table))
    if cut is None:
        return False
    rows = same_rows(parents, cut)
    target = parents.target_of(rows)
    if target is not None and part_names(target):
        return True
    match parents.of(rows):
        case tree.Assign(targets=targets):
            return any(part_names(one) for one in targets)
        case tree.DictDisplay(items=items):
            return is_of_a_part(parents, items, rows)
    return False


def _cut(parents: Parents, table: tree.Expr) -> tree.Expr | None:
    """What cuts rows out of a table: a slice of it or its `iloc`, `head`, `tail`, or a function that splits arrays."""
    above = parents.of(table)
    match above:
        case tree.Attribute(attr="iloc"):
            return _slice(parents, above)
        case tree.Attribute(attr=attr) if attr in method_words("tables", "ends"):
            call = parents.of(above)
            return call if isinstance(call, tree.Call) and call.func is above else None
        case tree.Arg():
            call = parents.of(above)
            if isinstance(call, tree.Call) and call.args[0] is above and isinstance(call.func, tree.Attribute):
                return call if called_name(call.func) in method_words("permutations", "array_cuts") else None
    return _slice(parents, table)


def _slice(parents: Parents, table: tree.Expr) -> tree.Expr | None:
    part = parents.of(table)
    return part if isinstance(part, tree.Subscript) and isinstance(part.index, tree.Opaque) else None
