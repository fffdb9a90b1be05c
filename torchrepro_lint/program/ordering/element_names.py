"""What names say of the elements of a collection: `labels` are texts, `indices` are numbers."""

from __future__ import annotations

import re
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.ordering.element_annotations import ElementKind

__all__ = ["by_name", "names_numbers"]

#: Names of whole numbers, whose sets have the same order in every run; many are those of COCO's annotations.
_NUMBERS: Final = re.compile(
    r"(?<![a-z])(?:(?:idx|idxs|index|indices|ix|inds?|num|count|rank|epoch|step|layer|port|frame)s?"
    r"|(?:img|image|cat|category|ann|annotation|obj)_?ids?|pseudo_?labels?|cattoimgs|imgtoanns)(?![a-z])",
    re.IGNORECASE,
)
#: Names of tables that have a number for each key: `pid2label[pid]`.
_NUMBERED: Final = re.compile(r"(?:2|_to_)(?:ids?|idx|ind|index|int|labels?|num)$", re.IGNORECASE)
#: Short words that end others which mean something else: `cities` in `velocities`, `lines` in `splines`.
_BEGINNINGS: Final = (
    r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
    r"(?i:line|cit(?:y|ies)|case|gene(?!r)|lang|slot|char|text|clip|phone|url|tags?(?![a-z])|dirs?(?![a-z]))"
)
_TEXTS: Final = re.compile(
    r"(?i:label|class(?!_$)|categor|name|title|token|word|letter|vocab|file|path|folder"
    r"|sentence|caption|patient|subject|speaker|species|domain|genre|countr|entit|relation|predicate|symbol"
    r"|scene|video|artist|author|smiles|protein|emotion|intent|prefix|suffix|extension|column"
    r"|string|utt|sequence_?id|uuid)|" + _BEGINNINGS
)


def names_numbers(word: str) -> bool:
    """Whether something called so is a whole number, or several of them."""
    return bool(_NUMBERS.search(word))


def by_name(node: tree.Expr) -> ElementKind | None:
    """What a name, or a key of a table, says of itself."""
    match node:
        case tree.Name(id=word) | tree.Attribute(attr=word) | tree.Subscript(index=tree.Const(value=str() as word)):
            if names_numbers(word):
                return "number"
            return "text" if _TEXTS.search(word) else None
        case tree.Subscript(value=tree.Name(id=word) | tree.Attribute(attr=word)) if _NUMBERED.search(word):
            return "number"
        case tree.Subscript(value=value):
            return by_name(value)
        case tree.Call(func=func):
            return by_name(func)
    return None
