"""Objects of libraries whose attributes are what they were made of: `SimpleNamespace(train=True)`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation.containers import updated
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    DictValue,
    ExternalObject,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["field", "fields", "is_record"]

#: What may change a record by names that the text does not show.
_CHANGES = re.compile(rb"setattr|merge_with|__dict__|\.update\(|\.parse_args\(")


def is_record(value: Value) -> bool:
    """Whether a value is such an object."""
    return isinstance(value, ExternalObject) and value.name in known_calls("makes_records")


def fields(value: ExternalObject) -> DictValue | None:
    """The attributes of a record by their names; None where nothing is known about them."""
    given = value.arguments
    if given is None or given.open_positional or len(given.positional) > 1:
        return None
    own = DictValue(given.keywords, given.open_keywords)
    for values in given.positional:
        (only,) = values if len(values) == 1 else (None,)
        if not isinstance(only, DictValue):
            return None
        own = updated(only, own, True)
    return own


def field(ev: Evaluator, value: ExternalObject, name: str) -> Values:
    """What an attribute of a record can be, or one of its items; a dict in it is a record as well."""
    own = fields(value)
    found = own.get(name) if own is not None else None
    if found is None:
        return NOTHING
    inner = (_as_record(one, value) for one in found[0])
    return union(values_of(*inner), unknown() if _may_be_set(ev, value, name) else NOTHING)


def _as_record(value: Value, around: ExternalObject) -> Value:
    return (
        ExternalObject(around.name, Arguments((values_of(value),)), around.site)
        if isinstance(value, DictValue)
        else value
    )


def _may_be_set(ev: Evaluator, value: ExternalObject, name: str) -> bool:
    """Whether the project may give the attribute another value somewhere."""
    if value.site is None or ev.project.holds(value.site.path, _CHANGES):
        return True
    home = value.site.path
    return ev.remembered(("set-somewhere", home, name), lambda: _is_set(ev, home, name), True)


def _is_set(ev: Evaluator, home: Path, name: str) -> bool:
    """Whether a file that can have the object, from where it is made or handed on, sets an attribute of the name."""
    word = re.escape(name.encode())
    is_set = re.compile(rb"(?:(?<!self)\.%s|[\"']%s[\"']\])\s*=(?!=)" % (word, word))
    users = ev.project.mentioning(_import_name(home))
    return any(
        path == home or path in users or home in ev.project.mentioning(_import_name(path))
        for path in ev.project.containing(name)
        if ev.project.holds(path, is_set)
    )


def _import_name(path: Path) -> str:
    """The word by which a file is imported."""
    return path.parent.name if path.stem == "__init__" else path.stem
