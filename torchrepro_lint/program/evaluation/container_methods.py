"""What methods do to the lists and dicts that they are called on: `.append`, `.insert`, `.update`, `.pop`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.program.evaluation.containers import elements, updated
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    Constant,
    DictValue,
    SequenceValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["METHODS", "after_item", "after_method"]

#: Those of a queue.
_PUTS = frozenset({"put", "put_nowait"})
_LIST_CHANGES = frozenset({"append", "appendleft", "extend", "extendleft", "insert", "add"}) | _PUTS
_DICT_CHANGES = frozenset({"update", "setdefault", "pop"})
#: Methods by which a container of modules gets one under a name.
_NAMED_CHANGES = frozenset({"add_module", "register_module"})
#: The methods that change a list, a queue, a dict or a container of modules.
METHODS: Final = _LIST_CHANGES | _DICT_CHANGES | _NAMED_CHANGES


def after_item(value: DictValue, index: Values, stored: Values, certain: bool) -> DictValue:
    """A dict after `owner[index] = stored`, which surely happened or perhaps did."""
    keys = [key for key in ordered(index) if isinstance(key, Constant)]
    if len(keys) != len(index) or not keys:
        return DictValue(value.entries, True, union(value.rest, stored))
    one = len(keys) == 1
    return updated(value, DictValue(tuple((key.value, stored, one) for key in keys), False), certain)


def after_method(ev: Evaluator, value: Value, method: str, arguments: Arguments, certain: bool) -> Values:
    """A list or dict after a call of one of its methods, which surely happened or perhaps did."""
    first = arguments.positional[0] if arguments.positional else arguments.unseen
    if isinstance(value, DictValue) and method in _NAMED_CHANGES:
        given = union(arguments.unseen, *arguments.positional[1:2])
        return values_of(after_item(value, first, given, certain))
    if isinstance(value, SequenceValue) and (method in _LIST_CHANGES or method in _NAMED_CHANGES):
        last = union(arguments.unseen, *arguments.positional[-1:])
        added = elements(ev, first) if method in ("extend", "extendleft") else first if method in _PUTS else last
        goes_last = method == "append" or method in _NAMED_CHANGES
        if certain and value.items is not None and len(value.items) < 32:
            place = len(value.items) if goes_last else _place(ev, method, first)
            if place is not None:
                items = (*value.items[:place], added, *value.items[place:])
                return values_of(SequenceValue(value.kind, items, NOTHING))
        return values_of(SequenceValue(value.kind, None, union(value.elements(), added)))
    if isinstance(value, DictValue) and method == "update":
        result = value
        for other in first:
            source = other if isinstance(other, DictValue) else DictValue((), True, unknown())
            result = updated(result, source, certain and len(first) == 1)
        if arguments.keywords or arguments.open_keywords:
            entries = tuple((key, values, sure) for key, values, sure in arguments.keywords)
            result = updated(result, DictValue(entries, arguments.open_keywords), certain)
        return values_of(result)
    if isinstance(value, DictValue) and method == "pop":
        return values_of(_after_pop(value, ev.one_constant(first), certain))
    if isinstance(value, DictValue) and method == "setdefault":
        given = union(arguments.unseen, *arguments.positional[1:2]) or values_of(Constant(None))
        return values_of(_after_setdefault(value, first, given, certain))
    return values_of(value)


def _place(ev: Evaluator, method: str, index: Values) -> int | None:
    """Where `insert(index, part)` and `appendleft(part)` put one; None where that is not known."""
    if method == "appendleft":
        return 0
    known = ev.one_constant(index) if method == "insert" else None
    return known.value if known is not None and type(known.value) is int else None


def _after_pop(value: DictValue, key: Constant | None, certain: bool) -> DictValue:
    if key is None:  # any may be gone
        return DictValue(tuple((name, values, False) for name, values, _ in value.entries), value.open, value.rest)
    kept = tuple(
        (name, values, sure and name != key.value)
        for name, values, sure in value.entries
        if not (certain and name == key.value)
    )
    return DictValue(kept, value.open, value.rest)


def _after_setdefault(value: DictValue, keys: Values, given: Values, certain: bool) -> DictValue:
    known = [key.value for key in ordered(keys) if isinstance(key, Constant)]
    if len(known) != len(keys) or not known:
        return DictValue(value.entries, True, union(value.rest, given))
    for key in known:
        present = value.get(key)
        if present is None or not present[1]:
            surely = present is None and len(known) == 1
            value = updated(value, DictValue(((key, given, surely),), False), certain)
    return value
