"""Slices of a list that are put where the parts of a data set are: one into `train.txt`, another into `val.txt`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk, words_in
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.orders.permutations import part_names
from torchrepro_lint.program.running.blocks import simple_expressions_in
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Node, Parents

__all__ = ["go_to_parts", "is_called_a_part", "parts_named", "says_part", "shows"]


def is_called_a_part(parents: Parents, piece: tree.Subscript) -> bool:
    """Whether what a slice is assigned to is called after a part of a data set that it is not cut from: the first of
    `val_images` are no part of a split, and neither is `images[i : i + 1]`.
    """
    statement = parents.statement(piece)
    if not isinstance(statement, tree.Assign) or _is_one_item(piece):
        return False
    called = parts_named(word for target in statement.targets if part_names(target) for word in words_in([target]))
    return bool(called - parts_named(words_in([piece.value])))


def _is_one_item(piece: tree.Subscript) -> bool:
    match piece.index:
        case tree.Opaque(parts=(start, tree.Binary(op="+", left=left, right=tree.Const(value=1)))):
            return dotted_name(start) == dotted_name(left) is not None
    return False


def go_to_parts(parents: Parents, piece: tree.Subscript) -> bool:
    """Whether a slice is put where a part of a data set is, and another slice of the list where another part is."""
    mine = _parts_around(parents, piece)
    return bool(mine) and any(
        (theirs := _parts_around(parents, other)) and theirs != mine for other in _other_slices(parents, piece)
    )


def _other_slices(parents: Parents, piece: tree.Subscript) -> Iterator[tree.Subscript]:
    name = dotted_name(piece.value)
    uses: Iterable[tree.Name | tree.Attribute] = ()
    match piece.value:
        case tree.Name(id=word):
            uses = parents.names.get(word, ())
        case tree.Attribute(attr=word):
            uses = parents.attributes.get(word, ())
    function = parents.function(piece)
    for use in uses:
        match parents.of(use):
            case tree.Subscript(value=value, index=tree.Opaque()) as other if value is use and other is not piece:
                if dotted_name(use) == name and parents.function(use) is function:
                    yield other


def _parts_around(parents: Parents, piece: tree.Subscript) -> set[str]:
    """The parts named beside a slice: in a call that gets it, in the loop over it, by the file that is open."""
    found: set[str] = set()
    inside: Node = piece
    for above in parents.around(piece):
        match above:
            case tree.Call(func=func, args=args):
                if shows(above):
                    return set()
                found |= parts_named(words_in([func, *(arg.value for arg in args if arg is not inside)]))
            case tree.For(iter=iterated, body=body) if iterated is inside:
                calls = (
                    one for one in walk(simple_expressions_in(body)) if isinstance(one, tree.Call) and not shows(one)
                )
                found |= parts_named(words_in(calls))
            case tree.With(items=items):
                return found | parts_named(words_in(context for context, _ in items))
            case tree.Assign() | tree.Return() | tree.FunctionDef() | tree.ClassDef():
                return found
        inside = above
    return found


def parts_named(words: Iterable[str]) -> set[str]:
    """The parts of a data set that are in names and texts."""
    return {part.lower() for word in words for part in function_words("part_of_data").findall(word)}


def says_part(word: str) -> bool:
    """Whether a name or a text names a part of a data set."""
    return function_words("part_of_data").search(word) is not None


def shows(call: tree.Call) -> bool:
    """Whether a call only shows something to a person."""
    return called_name(call.func) in method_words("shows")
