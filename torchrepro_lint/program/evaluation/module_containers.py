"""The modules that `nn.ModuleList`, `nn.ModuleDict` and `nn.Sequential` hold, as a loop or an index takes them out.

What is done to them elsewhere (a parent's `apply`) is not followed, so that an element may always be anything else as
well.
"""

from __future__ import annotations

from collections.abc import Callable

from torchrepro_lint.program.evaluation.joining import dict_of_pairs
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    DictValue,
    ExternalObject,
    SequenceValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

__all__ = [
    "elements_of",
    "held_modules",
    "holding_modules",
    "is_changeable",
    "joined_modules",
    "layered",
    "named_element",
    "named_module",
]


def held_modules(value: Value) -> Values:
    """The lists or dicts of modules that a container of modules can hold; nothing for other values."""
    match value:
        case ExternalObject(name="torch.nn.ModuleList", arguments=Arguments() as given):
            return _given(given) or (NOTHING if _may_be_given(given) else values_of(SequenceValue("list", (), NOTHING)))
        case ExternalObject(name="torch.nn.ModuleDict", arguments=Arguments() as given):
            dicts = frozenset(dict_of_pairs(one) or one for one in _given(given))
            return dicts or (NOTHING if _may_be_given(given) else values_of(DictValue((), False)))
        case ExternalObject(name="torch.nn.Sequential", arguments=Arguments(positional=layers, open_positional=False)):
            return values_of(SequenceValue("list", layers, NOTHING))
    return NOTHING


def _given(given: Arguments) -> Values:
    keyword = given.keyword("modules")
    values = keyword[0] if keyword is not None else given.positional[0] if given.positional else NOTHING
    return frozenset(one for one in values if isinstance(one, (SequenceValue, DictValue)))


def _may_be_given(given: Arguments) -> bool:
    return bool(given.positional or given.keywords or given.open_positional or given.open_keywords)


def holding_modules(value: Value, held: Values) -> Value:
    """The container with other modules in it."""
    match value:
        case ExternalObject(name="torch.nn.Sequential", site=site):
            parts = [one.items or (one.elements(),) for one in held if isinstance(one, SequenceValue)]
            return ExternalObject(value.name, Arguments(parts[0]) if len(parts) == 1 else None, site)
        case ExternalObject(site=site):
            return ExternalObject(value.name, Arguments((held,)), site)
    return value


def joined_modules(left: Value, right: Value, join: Callable[[Value, Value], Values]) -> Values | None:
    """What `left + right` holds where the left is a container of modules, and the right one too, or a list of them."""
    added = held_modules(right) or frozenset((right,) if isinstance(right, SequenceValue) else ())
    both = union(*(join(a, b) for a in held_modules(left) for b in added if isinstance(a, SequenceValue)))
    return values_of(holding_modules(left, both)) if both else None


def layered(arguments: Arguments) -> Arguments:
    """The layers that `nn.Sequential` is given, each as an argument, also where they come in a dict of their names."""
    match arguments:
        case Arguments(positional=(only,), open_positional=False) if len(only) == 1:
            for one in only:
                if isinstance(one, DictValue) and not one.open:
                    return Arguments(tuple(values for _, values, _ in one.entries))
    return arguments


def named_module(value: ExternalObject, name: str) -> Values:
    """The module that a dict of modules holds under a name: `self.heads.mask` is `self.heads["mask"]`."""
    if value.name != "torch.nn.ModuleDict":
        return NOTHING
    entries = (one.get(name) for one in held_modules(value) if isinstance(one, DictValue))
    return union(*(entry[0] for entry in entries if entry is not None))


def is_changeable(value: Value) -> bool:
    """Whether a value is a list, a dict or a container of modules, to which something can be added in place."""
    return isinstance(value, (DictValue, SequenceValue)) or bool(held_modules(value))


def elements_of(held: Values) -> Values:
    """What a loop over a container of modules gives: of a dict the keys."""
    parts = [one.elements() for one in held if isinstance(one, SequenceValue)]
    return union(*parts, unknown())


def named_element(held: Values) -> Values:
    """What indexing a container of modules gives, whatever the index is."""
    parts = [
        one.all_values() if isinstance(one, DictValue) else one.elements()
        for one in held
        if isinstance(one, (SequenceValue, DictValue))
    ]
    return union(*parts, unknown())
