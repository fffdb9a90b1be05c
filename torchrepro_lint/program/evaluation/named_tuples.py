"""Tuples whose items have names: objects of a class that derives from `NamedTuple`, and what `namedtuple` makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.dataclass_fields import field_names
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    Constant,
    ExternalObject,
    Instance,
    SequenceValue,
    Site,
    Values,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["MAKER", "made_by_namedtuple", "tuple_items"]

#: What makes a class of such tuples.
MAKER: Final = "collections.namedtuple"
_BASES: Final = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})


def tuple_items(ev: Evaluator, value: Instance) -> tuple[Values, ...] | None:
    """The items of an object of such a class, in their order; None of another object."""
    if not value.cls.node.bases or _BASES.isdisjoint(external_bases(ev, value.cls)):
        return None
    return tuple(ev.attribute(value, name) for name in field_names(ev, value.cls))


def made_by_namedtuple(ev: Evaluator, kind: ExternalObject, arguments: Arguments, site: Site | None) -> Values:
    """What a call of `namedtuple("Part", "name size")` gives: an object with these attributes."""
    names = _names(ev, kind.arguments)
    if names is None or arguments.open_positional or len(arguments.positional) > len(names):
        return unknown()
    given = ((name, values, True) for name, values in zip(names, arguments.positional, strict=False))
    fields = Arguments((), (*given, *arguments.keywords), False, arguments.open_keywords)
    return values_of(ExternalObject("types.SimpleNamespace", fields, site))


def _names(ev: Evaluator, made: Arguments | None) -> list[str] | None:
    """The names in `namedtuple("Part", "name size")` and `namedtuple("Part", ["name", "size"])`."""
    if made is None or len(made.positional) != 2 or len(made.positional[1]) != 1:
        return None
    match next(iter(made.positional[1])):
        case Constant(value=str() as text):
            return text.replace(",", " ").split()
        case SequenceValue(items=tuple() as items):
            names = [ev.one_constant(item) for item in items]
            found = [one.value for one in names if one is not None and isinstance(one.value, str)]
            return found if len(found) == len(items) else None
    return None
