"""Lists and dicts that many calls have changed, each in its own way, as one that may be any of them."""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Constant,
    DictValue,
    SequenceValue,
    Value,
    Values,
    union,
    values_of,
)

__all__ = ["dict_of_pairs", "joined", "opened", "repeated"]


def joined(*sets: Values) -> Values:
    """All the values, with one dict for all of theirs, and one list for those of unknown length: what many calls leave
    behind, of which each has put in something. There may be any number of them, one for each class that a decorator
    registers.
    """
    values = frozenset[Value]().union(*sets)
    dicts = [value for value in values if isinstance(value, DictValue)]
    lists = [value for value in values if isinstance(value, SequenceValue) and value.items is None]
    if len(dicts) > 1:
        values = values.difference(dicts) | {_joined_dict(dicts)}
    for kind in {value.kind for value in lists} if len(lists) > 1 else ():
        alike = [value for value in lists if value.kind == kind]
        whole = SequenceValue(kind, None, union(*(value.elements() for value in alike)))
        values = values.difference(alike) | {whole}
    return union(values_of(*values), NOTHING)


def _joined_dict(dicts: Sequence[DictValue]) -> DictValue:
    entries: dict[tuple[type, tree.ConstantValue], tuple[tree.ConstantValue, Values, int]] = {}
    for key, found, certain in (entry for value in dicts for entry in value.entries):
        _, before, times = entries.get((type(key), key), (key, NOTHING, 0))
        entries[type(key), key] = (key, union(before, found), times + certain)
    in_order = sorted(entries.values(), key=lambda entry: (type(entry[0]).__name__, repr(entry[0])))
    surely = tuple((key, found, times == len(dicts)) for key, found, times in in_order)
    return DictValue(surely, any(value.open for value in dicts), union(*(value.rest for value in dicts)))


def repeated(value: Value) -> Values:
    """What a list or dict may be after a change that happens any number of times: a list has any length, and a dict has
    the keys that it has after one.
    """
    return values_of(value) if isinstance(value, DictValue) and not value.open else opened(value)


def opened(value: Value) -> Values:
    """A list or dict that may hold more, or less, than was seen: its entries are no longer certain."""
    if isinstance(value, DictValue):
        entries = tuple((key, values, False) for key, values, _ in value.entries)
        return values_of(DictValue(entries, True, value.rest))
    if isinstance(value, SequenceValue):
        return values_of(SequenceValue(value.kind, None, value.elements()))
    return NOTHING


def dict_of_pairs(value: Value) -> DictValue | None:
    """The dict that is made of a list of pairs, `[("a", 1), ("b", 2)]`; None where not each key is known."""
    if not isinstance(value, SequenceValue) or value.items is None:
        return None
    entries: dict[tuple[type, tree.ConstantValue], tuple[tree.ConstantValue, Values, bool]] = {}
    for item in value.items:
        match next(iter(item)) if len(item) == 1 else None:
            case SequenceValue(items=(key, held)) if len(key) == 1:
                for one in key:
                    if not isinstance(one, Constant):
                        return None
                    entries[type(one.value), one.value] = (one.value, held, True)
            case _:
                return None
    return DictValue(tuple(entries.values()), False)
