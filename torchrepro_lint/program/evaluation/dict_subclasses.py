"""Objects of project classes that derive from `dict`: what is in them, as in a registry of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.changes import with_changes
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.construction import base_arguments
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.method_changes import with_changes_on
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    DictValue,
    External,
    FunctionValue,
    Instance,
    Values,
    union,
    unknown,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["dict_of"]

_DICTS: Final = frozenset({"builtins.dict", "collections.OrderedDict", "collections.UserDict"})
_DICT: Final = External("builtins.dict")


def dict_of(ev: Evaluator, instance: Instance) -> Values:
    """The dict that an object is; nothing where it is none."""
    if _DICTS.isdisjoint(external_bases(ev, instance.cls)):
        return NOTHING
    return ev.remembered(("dict-of", instance), lambda: _dict_of(ev, instance), NOTHING, unknown())


def _dict_of(ev: Evaluator, instance: Instance) -> Values:
    given = [arguments for name, arguments in base_arguments(ev, instance) if name in _DICTS]
    values = with_changes_on(
        ev,
        instance,
        ev.call(_DICT, given[0] if given else Arguments(), None),
        lambda name, scope: bool(scope.touches(name)) or any(_handed(name, call) for call, _ in scope.calls),
        lambda before, name, frame: _changed(ev, instance, before, name, frame),
    )
    return frozenset(_open(value) for value in values if isinstance(value, DictValue))


def _open(value: DictValue) -> DictValue:
    """The dict where more may have been put into it: what others do to the object by its name is not followed."""
    entries = tuple((key, union(values, unknown()), False) for key, values, _ in value.entries)
    return DictValue(entries, True, union(value.rest, unknown()))


def _handed(name: str, call: tree.Call) -> bool:
    return any(isinstance(arg.value, tree.Name) and arg.value.id == name for arg in call.args)


def _changed(ev: Evaluator, instance: Instance, values: Values, name: str, frame: Frame) -> Values:
    """The dict after a method: what it puts into `self` itself, and by functions to which it hands `self`."""
    values = with_changes(ev, values, frame, -1, END, name)
    for call, path in frame.scope.calls:
        if not _handed(name, call) or ev.decide(path, frame) is False:
            continue
        for function in ev.values(call.func, frame):
            if isinstance(function, FunctionValue):
                inner = bound_frame(ev, function, ev.arguments(call.args, frame))
                for parameter in (key for key, held in inner.params if instance in held):
                    values = union(values, with_changes(ev, values, inner, -1, END, parameter))
    return values
