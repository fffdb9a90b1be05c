"""Pieces of a permutation that are called the folds of a data set: `folds = [order[i::k] for i in range(k)]`."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.parents import Parents

__all__ = ["are_folds", "are_pieces_of_folds"]


def are_pieces_of_folds(parents: Parents, piece: tree.Subscript, pieces: tree.Comprehension) -> bool:
    """Whether a slice is each element of a list of folds, cut off one permutation, and not each off its own."""
    if not isinstance(piece.value, (tree.Name, tree.Attribute)):
        return False
    element: object = piece
    while element is not pieces.element:
        above = parents.of(element)  # type: ignore[arg-type]
        if above is pieces or not isinstance(above, (tree.Attribute, tree.Call, tree.Arg)):
            return False
        element = above
    return are_folds(parents, pieces)


def are_folds(parents: Parents, pieces: tree.Expr) -> bool:
    """Whether pieces go by the name of folds, as a list too: what they are assigned to, or the function that returns
    them.
    """
    match parents.of(pieces):
        case tree.Assign(targets=(tree.Name(id=name) | tree.Attribute(attr=name),)):
            return function_words("folds_of_data").search(name) is not None
        case tree.Return():
            function = parents.function(pieces)
            return isinstance(function, tree.FunctionDef) and _makes_folds(function)
        case tree.Arg() as arg:
            match parents.of(arg):
                case tree.Call(func=tree.Name(id="list" | "tuple")) as call:
                    return are_folds(parents, call)
        case tree.Clause(iter=iterated) as clause if iterated is pieces:
            outer = parents.of(clause)
            return isinstance(outer, tree.Comprehension) and are_folds(parents, outer)
    return False


def _makes_folds(function: tree.FunctionDef) -> bool:
    return function_words("makes_folds").search(function.name) is not None
