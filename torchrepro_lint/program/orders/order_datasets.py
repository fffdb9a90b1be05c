"""What a data set makes of the order of what it holds: its samples, in the order in which it is asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.orders.order_places import class_around, is_named_dataset, is_target, project_bases
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["decides_samples", "is_item_asked_for", "iterates_samples", "prepares_samples"]

_FETCHING: Final = frozenset({"__getitem__", "__iter__", "__getitems__"})
#: What a data set of PyG defines in the place of `__getitem__` and `__len__`.
_GRAPHS: Final = frozenset({"get", "len"})


def decides_samples(program: Program, facts: ModuleFacts, use: tree.Expr) -> bool:
    """Whether a data set fetches its samples from what it holds by position, or iterates over it."""
    parents = parents_of(program.ev, facts)
    function = next((above for above in parents.around(use) if isinstance(above, tree.FunctionDef)), None)
    if function is None or not _is_dataset(program, facts, class_around(parents, use)):
        return False
    match parents.of(use):
        case tree.Subscript(value=value, index=index) if value is use:
            outer = parents.of(use)
            by_position = not isinstance(index, (tree.Const, tree.Opaque)) and function.name != "__init__"
            by_position = by_position or _is_cut_for_an_item(facts, function, index)
            return by_position and not (isinstance(outer, tree.Subscript) and is_target(program, facts, outer))
        case tree.For(iter=iterated) if iterated is use:
            return function.name == "__iter__"
    return False


def _is_cut_for_an_item(facts: ModuleFacts, function: tree.FunctionDef, index: tree.Expr) -> bool:
    """Whether a slice is taken for one item of a data set, from where its number says: `self.tokens[i : i + size]`."""
    if not isinstance(index, tree.Opaque) or function.name not in ("__getitem__", "get"):
        return False
    scope = facts.scope_of(function)
    names = {part.id for part in walk([index]) if isinstance(part, tree.Name)} - {scope.self_name}
    return any(name in scope.bindings for name in names)


def is_item_asked_for(program: Program, facts: ModuleFacts, lookup: tree.Subscript) -> bool:
    """Whether the `__getitem__` of a data set looks something up by the number of the item that is asked for."""
    parents = parents_of(program.ev, facts)
    match parents.function(lookup):
        case tree.FunctionDef(name="__getitem__", params=(_, index, *_)):
            by_number = any(isinstance(one, tree.Name) and one.id == index.name for one in walk([lookup.index]))
            return by_number and _is_dataset(program, facts, class_around(parents, lookup))
    return False


def prepares_samples(program: Program, facts: ModuleFacts, node: tree.Expr | tree.Stmt) -> bool:
    """Whether a node is in the method by which a data set of a library saves its samples, once, to fetch them later."""
    parents = parents_of(program.ev, facts)
    match parents.function(node):
        case tree.FunctionDef(name=name) if name in ordering_names("paths_of_names", "prepared_by"):
            return _is_dataset(program, facts, class_around(parents, node))
    return False


def iterates_samples(program: Program, facts: ModuleFacts, function: tree.FunctionDef) -> bool:
    """Whether what a function yields or returns are the samples of a data set, one after the other."""
    cls = class_around(parents_of(program.ev, facts), function)
    return function.name == "__iter__" and cls is not None and is_named_dataset(cls)


def _is_dataset(program: Program, facts: ModuleFacts, cls: tree.ClassDef | None) -> bool:
    if cls is None:
        return False
    classes = [cls, *(base for _, base in project_bases(program, facts, cls))]
    methods = {one.name for each in classes for one in each.body if isinstance(one, tree.FunctionDef)}
    named = any(map(is_named_dataset, classes))
    shaped = "__len__" in methods and _may_hold_samples(cls)
    return (bool(methods & _FETCHING) and (named or shaped)) or (named and methods >= _GRAPHS)


def _may_hold_samples(cls: tree.ClassDef) -> bool:
    """Whether a class has a base, which may be a data set, or says by its name that it holds samples."""
    bases = [called_name(base.value) for base in cls.bases if base.keyword is None]
    return any(base != "object" for base in bases) or function_words("holds_samples").search(cls.name) is not None
