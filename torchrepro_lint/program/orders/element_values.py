"""What the elements of a collection are whose value is known."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.program.evaluation.values import Constant, DictValue, SequenceValue, Value, Values
from torchrepro_lint.program.orders.element_annotations import ElementKind

__all__ = ["kind_of_known"]


def kind_of_known(values: Values) -> ElementKind | None:
    """What all that iterating over the values gives is; None where one of that is not a constant."""
    elements = list(_elements(values))
    constants = [one.value for one in elements if isinstance(one, Constant)]
    if not elements or len(constants) < len(elements):
        return None
    return "text" if any(isinstance(one, (str, bytes)) for one in constants) else "number"


def _elements(values: Values) -> Iterator[Value]:
    """What iterating over lists, tuples and sets gives, and over dicts that are known whole: their keys."""
    for value in values:
        match value:
            case SequenceValue():
                yield from value.elements()
            case DictValue(entries=entries, open=False):
                yield from (Constant(key) for key, _, _ in entries)
