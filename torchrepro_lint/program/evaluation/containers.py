"""Lists, tuples and dicts: what is in them, and what is taken out of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.loaders import loader_class
from torchrepro_lint.program.evaluation.module_containers import elements_of, held_modules, named_element
from torchrepro_lint.program.evaluation.registries import is_registry, registered
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    UNKNOWN,
    Arguments,
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    SequenceValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["TENSOR", "elements", "inner_changed", "part_of", "rest", "subscript", "unpack", "updated"]

TENSOR = "torch.Tensor"


def elements(ev: Evaluator, values: Values) -> Values:
    """What iterating over any of `values` can give."""
    parts: list[Values] = []
    for value in values:
        match value:
            case SequenceValue():
                parts.append(value.elements())
            case DictValue(entries=entries, open=is_open):
                parts.append(frozenset(Constant(key) for key, _, _ in entries))
                if is_open:
                    parts.append(unknown())
            case Instance() if (items := ev.tuple_items(value)) is not None:
                parts.extend(items)
            case Instance():
                iterators = ev.attribute(value, "__iter__")
                if iterators:
                    parts.extend(_given_next(ev, one) for one in ev.call_all(iterators, Arguments(), None))
                else:
                    getters = ev.attribute(value, "__getitem__")
                    parts.append(ev.call_all(getters, Arguments((unknown(),)), None) if getters else unknown())
            case ExternalObject(name=name) if name == TENSOR:
                parts.append(values_of(value))
            case ExternalObject() if modules := held_modules(value):
                parts.append(elements_of(modules))
            case _:
                parts.append(unknown())
    return union(*parts) if parts else NOTHING


def _given_next(ev: Evaluator, iterator: Value) -> Values:
    """What an iterator gives, one after the other."""
    if isinstance(iterator, SequenceValue):
        return iterator.elements()
    following = ev.attribute(iterator, "__next__") if isinstance(iterator, Instance) else NOTHING
    return ev.call_all(following, Arguments(), None) if following else unknown()


def unpack(ev: Evaluator, values: Values, places: tuple[int, ...]) -> Values:
    """What destructuring assigns to the target at `places`: `a, (b, c) = x` gives `c` the places (1, 1)."""
    for place in places:
        values = union(*(_item(ev, value, place) for value in values)) if values else NOTHING
    return values


def rest(ev: Evaluator, values: Values, before: int, behind: int) -> Values:
    """The list that a starred target gets: all but the first and the last items."""
    parts: list[Value] = []
    for value in values:
        if isinstance(value, SequenceValue) and value.items is not None:
            if len(value.items) >= before + behind:
                parts.append(SequenceValue("list", value.items[before : len(value.items) - behind], NOTHING))
        else:
            parts.append(SequenceValue("list", None, elements(ev, values_of(value))))
    return values_of(*parts)


def _item(ev: Evaluator, value: Value, place: int) -> Values:
    match value:
        case SequenceValue(items=items) if items is not None:
            return items[place] if -len(items) <= place < len(items) else NOTHING
        case SequenceValue(element=element):
            return element
        case ExternalObject(name=name) if name == TENSOR:
            return values_of(value)
        case Instance() if (named := ev.tuple_items(value)) is not None:
            return named[place] if -len(named) <= place < len(named) else NOTHING
    return elements(ev, values_of(value))


def subscript(ev: Evaluator, values: Values, index: Values, is_slice: bool) -> Values:
    """What `values[index]` can be."""
    parts: list[Values] = []
    constant = ev.one_constant(index)
    for value in values:
        match value:
            case DictValue():
                parts.append(_dict_item(value, index))
            case SequenceValue(items=items) if is_slice:
                parts.append(values_of(SequenceValue(value.kind, None, value.elements())) if items != () else NOTHING)
            case SequenceValue(items=items):
                if items is not None and constant is not None and isinstance(constant.value, int):
                    parts.append(_item(ev, value, constant.value))
                else:
                    parts.append(value.elements())
            case Instance() if not is_slice and constant is not None and (named := ev.tuple_items(value)) is not None:
                place = constant.value
                is_place = isinstance(place, int) and -len(named) <= place < len(named)
                parts.append(named[place] if is_place else NOTHING)  # type: ignore[index]
            case Instance():
                getters = ev.attribute(value, "__getitem__") or values_of(MemberOf(value, "__getitem__"))
                parts.append(ev.call_all(getters, Arguments((index,)), None))
            case ClassValue() if member := ev.member_named(value, index):
                parts.append(member)
            case ClassValue():
                # `Wrapper[int]`: the class, with a hint for type checkers, unless it says what it is.
                own = ev.attribute(value, "__class_getitem__")
                made = frozenset(one for one in own if isinstance(one, FunctionValue))
                parts.append(ev.call_all(made, Arguments((values_of(value), index)), None) or values_of(value))
            case ExternalObject(name=name) if name == TENSOR:
                parts.append(values_of(value))
            case ExternalObject() if is_registry(value):
                parts.append(registered(ev, value))
            case ExternalObject() if modules := held_modules(value):
                parts.append(values_of(value) if is_slice else named_element(modules))
            case ExternalObject(name=name) if (item := external_callable(f"{name}.__getitem__")) and item.returns:
                if item.gives_receiver:
                    parts.append(part_of(value, constant))
                else:
                    parts.append(values_of(ExternalObject(item.returns, value.arguments, value.site)))
            case MemberOf(receiver=ExternalObject(name=name) as owner, attr=attr) if (
                item := external_callable(f"{name}.{attr}.__getitem__")
            ) and item.gives_receiver:
                parts.append(part_of(owner, constant))  # `table.loc[rows]`
            case External(name=name) if loader_class(name) is not None:
                parts.append(values_of(value))  # `DataLoader[int]`: the class, with a hint for type checkers
            case _:
                parts.append(unknown())
    return union(*parts) if parts else NOTHING


def part_of(value: Value, index: Constant | None) -> Values:
    """What an index takes out of a data set of which a slice or a list of positions gives a part that does the same."""
    return unknown() if index is not None and isinstance(index.value, int) else values_of(value, UNKNOWN)


def _dict_item(value: DictValue, index: Values) -> Values:
    parts: list[Values] = []
    for key in index:
        if not isinstance(key, Constant):
            return value.all_values() or unknown()
        entry = value.get(key.value)
        if entry is not None:
            parts.append(entry[0])
        elif value.open:
            parts.append(value.rest or unknown())
    return union(*parts) if parts else (unknown() if value.open or not index else NOTHING)


def inner_changed(
    ev: Evaluator, values: Values, indexes: Sequence[Values], change: Callable[[Value, bool], Values], certain: bool
) -> Values:
    """Lists and dicts after a change of what they hold at these indexes, one within the other. `change` gives what a
    value is after it, and whether it surely happened.
    """
    if not indexes:
        return union(*(change(value, certain) for value in values)) if values else NOTHING
    index, rest = indexes[0], indexes[1:]
    constant = ev.one_constant(index)
    keys = {(type(key.value), key.value) for key in index if isinstance(key, Constant)}
    is_known = len(keys) == len(index) > 0

    def inner(held: Values, sure: bool) -> Values:
        after = inner_changed(ev, held, rest, change, sure)
        return after if sure else union(held, after)

    parts: list[Values] = []
    for value in values:
        if isinstance(value, DictValue):
            entries = tuple(
                (key, inner(held, certain and constant is not None), is_sure)
                if not is_known or (type(key), key) in keys
                else (key, held, is_sure)
                for key, held, is_sure in value.entries
            )
            parts.append(values_of(DictValue(entries, value.open, inner(value.rest, False))))
        elif isinstance(value, SequenceValue):
            items = None if value.items is None else tuple(inner(item, False) for item in value.items)
            parts.append(values_of(SequenceValue(value.kind, items, inner(value.element, False))))
        else:
            parts.append(values_of(value))
    return union(*parts) if parts else NOTHING


def updated(base: DictValue, other: DictValue, certain: bool) -> DictValue:
    """`base` after `base.update(other)`, which surely happened or perhaps did."""
    entries = {(type(k), k): (k, values, sure) for k, values, sure in base.entries}
    for key, values, sure in other.entries:
        place = (type(key), key)
        if place in entries and not (sure and certain):
            _, before, was_sure = entries[place]
            entries[place] = (key, union(before, values), was_sure)
        else:
            entries[place] = (key, values, sure and certain)
    if other.open:
        # What is not known about the other may have replaced anything.
        entries = {k: (key, union(values, unknown()), sure) for k, (key, values, sure) in entries.items()}
    return DictValue(tuple(entries.values()), base.open or other.open, union(base.rest, other.rest))
