"""What names say of the elements of a collection: `labels` are texts, `indices` are numbers."""

from __future__ import annotations

from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.orders.element_annotations import ElementKind

__all__ = ["by_name", "names_numbers"]

#: Names of whole numbers, whose sets have the same order in every run; many are those of COCO's annotations.
_NUMBERS: Final = function_words("whole_numbers")
#: Names of tables that have a number for each key: `pid2label[pid]`.
_NUMBERED: Final = function_words("numbers_by_key")
_TEXTS: Final = function_words("texts")


def names_numbers(word: str) -> bool:
    """Whether something called so is a whole number, or several of them."""
    return bool(_NUMBERS.search(word))


def by_name(node: tree.Expr) -> ElementKind | None:
    """What a name, or a key of a table, says of itself."""
    match node:
        case tree.Name(id=word) | tree.Attribute(attr=word) | tree.Subscript(index=tree.Const(value=str() as word)):
            if names_numbers(word):
                return "number"
            if word.startswith("__"):  # Python's own: `self.__class__()` makes an object, and no texts
                return None
            return "named" if _TEXTS.search(word) else None
        case tree.Subscript(value=tree.Name(id=word) | tree.Attribute(attr=word)) if _NUMBERED.search(word):
            return "number"
        case tree.Subscript(value=value):
            return by_name(value)
        case tree.Call(func=func):
            return by_name(func)
    return None
