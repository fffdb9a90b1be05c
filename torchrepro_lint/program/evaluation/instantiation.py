"""What a library makes of a configuration that the project has written: `instantiate({"_target_": "data.Digits"})`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.program.evaluation.arguments import merged
from torchrepro_lint.program.evaluation.dataclass_fields import as_dict
from torchrepro_lint.program.evaluation.records import fields, is_record
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    Constant,
    DictValue,
    ExternalObject,
    Instance,
    Partial,
    SequenceValue,
    Site,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["instantiated"]

_TARGET: Final = "_target_"
#: Keys that say how to make it: with positional arguments, or with what is in it left as it is.
_UNUSUAL: Final = ("_args_", "_recursive_")
_DIRECTIVES: Final = frozenset({_TARGET, "_partial_", "_convert_"})


def instantiated(ev: Evaluator, config: Values, arguments: Arguments, site: Site | None) -> Values:
    """What is made of `config`, whose entries the further keyword arguments take the place of."""
    if site is None or not config or any(arguments.keyword(key) is not None for key in (*_UNUSUAL, "_partial_")):
        return unknown()
    keywords = tuple(entry for entry in arguments.keywords if entry[0] not in ("config", *_DIRECTIVES))
    rest = Arguments((), keywords, False, arguments.open_keywords)
    return union(*(_made(ev, _as_config(ev, value), rest, site.path, site) for value in config)) or unknown()


def _as_config(ev: Evaluator, value: Value) -> Value | None:
    if isinstance(value, Instance):
        return next(iter(as_dict(ev, value, deep=True)))
    if isinstance(value, ExternalObject) and is_record(value):
        return fields(value)
    return value


def _made(ev: Evaluator, config: Value | None, rest: Arguments, importer: Path, site: Site | None) -> Values:
    if not isinstance(config, DictValue):
        return unknown()
    target = config.get(_TARGET)
    name = ev.one_constant(target[0]) if target is not None and target[1] else None
    if name is None or not isinstance(name.value, str) or _is_unusual(config):
        return unknown()
    keywords = tuple(
        (key, _argument(ev, values, importer), certain)
        for key, values, certain in config.entries
        if isinstance(key, str) and key not in _DIRECTIVES
    )
    given = Arguments((), keywords, False, config.open)
    functions = _named(ev, importer, name.value)
    partial = config.get("_partial_")
    if partial is None:
        return ev.call_all(functions, merged(given, rest), site)
    is_partial = ev.one_constant(partial[0])
    return values_of(Partial(functions, merged(given, rest))) if is_partial == Constant(True) else unknown()


def _is_unusual(config: DictValue) -> bool:
    return any(config.get(key) is not None for key in _UNUSUAL)


def _argument(ev: Evaluator, values: Values, importer: Path) -> Values:
    """What an entry is where it is handed over: the configurations in it, and in its lists, are made."""
    return union(*(_part(ev, value, importer) for value in values)) if values else NOTHING


def _part(ev: Evaluator, value: Value, importer: Path) -> Values:
    if isinstance(value, DictValue) and value.get(_TARGET) is not None:
        return _made(ev, value, Arguments(), importer, None)
    if isinstance(value, SequenceValue):
        items = None if value.items is None else tuple(_argument(ev, item, importer) for item in value.items)
        return values_of(SequenceValue(value.kind, items, _argument(ev, value.element, importer)))
    return values_of(value)


def _named(ev: Evaluator, importer: Path, dotted: str) -> Values:
    first, *rest = dotted.split(".")
    found = ev.import_module(importer, first)
    for attr in rest:
        found = ev.instances_attribute(found, attr)
    return found
