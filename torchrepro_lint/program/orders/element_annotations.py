"""What an annotation says of the elements of a collection: `List[int]`, `Union[Sequence[str], np.ndarray]`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from torchrepro_lint.facts import tree

__all__ = ["ElementKind", "annotated_elements", "annotated_values", "joined"]

#: `named`: texts, as far as names tell.
ElementKind = Literal["text", "named", "number"]

#: Types of which iterating gives the first of what stands in the brackets: keys, where they are mappings.
_COLLECTIONS: Final = frozenset(
    {
        "list", "set", "frozenset", "deque", "dict", "defaultdict", "counter", "ordereddict", "mapping",
        "mutablemapping", "sequence", "mutablesequence", "iterable", "iterator", "generator", "collection",
        "container", "abstractset", "mutableset",
    }
)  # fmt: skip
_MAPPINGS: Final = frozenset({"dict", "defaultdict", "ordereddict", "mapping", "mutablemapping"})
_CHOICES: Final = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar"})
_KINDS: Final[dict[str, ElementKind]] = {
    "int": "number", "float": "number", "bool": "number", "str": "text", "bytes": "text",
}  # fmt: skip


def annotated_elements(annotation: tree.Expr | None) -> ElementKind | None:
    """What iterating over something with such an annotation gives; None where the annotation does not say."""
    match annotation:
        case tree.Binary(op="|", left=left, right=right):
            return _first_known(annotated_elements(part) for part in (left, right))
        case tree.Subscript(value=value, index=index):
            word = _last(value)
            if word in _CHOICES:
                return _first_known(annotated_elements(part) for part in _parts(index))
            if word.lower() in _COLLECTIONS:
                return _kind(_parts(index)[0])
            if word.lower() == "tuple":
                return joined(_kind(part) for part in _parts(index) if not _is_dots(part))
    return None


def annotated_values(annotation: tree.Expr | None) -> ElementKind | None:
    """What a mapping with such an annotation has for its keys; None where the annotation does not say."""
    match annotation:
        case tree.Subscript(value=value, index=tree.Display(items=(_, held))) if _last(value).lower() in _MAPPINGS:
            return _kind(held)
    return None


def joined(kinds: Iterable[ElementKind | None]) -> ElementKind | None:
    """A text among them makes texts of all, be it by its name; numbers only where all are."""
    found = list(kinds)
    for texts in ("text", "named"):
        if texts in found:
            return texts
    return "number" if found and all(one == "number" for one in found) else None


def _kind(node: tree.Expr) -> ElementKind | None:
    """What a value of the type is; a tuple is what its items are."""
    match node:
        case tree.Name() | tree.Attribute():
            return _KINDS.get(_last(node))
        case tree.Binary(op="|", left=left, right=right):
            return joined((_kind(left), _kind(right)))
        case tree.Subscript(value=value, index=index):
            if _last(value).lower() == "tuple":
                return joined(_kind(part) for part in _parts(index) if not _is_dots(part))
            if _last(value) == "Union":
                return joined(_kind(part) for part in _parts(index))
    return None


def _first_known(kinds: Iterable[ElementKind | None]) -> ElementKind | None:
    """Of several types the ones that say something: `Union[List[int], np.ndarray]` holds numbers."""
    return joined(kind for kind in kinds if kind is not None)


def _parts(index: tree.Expr) -> tuple[tree.Expr, ...]:
    return tuple(index.items) if isinstance(index, tree.Display) and index.items else (index,)


def _is_dots(node: tree.Expr) -> bool:
    return isinstance(node, tree.Const) and node.value is ...


def _last(node: tree.Expr) -> str:
    match node:
        case tree.Name(id=word) | tree.Attribute(attr=word):
            return word
    return ""
