"""Dropout that `model.eval()` does not switch off: functions that drop whenever they are called, and layers that are
made where they are called, always in training mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import words_in
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.dropout_calls import DropoutCall, dropout_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import UNKNOWN, Constant, ExternalObject, MemberOf, Site, Value
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ops.tensor_values import is_network_class
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.guards import Place, guards, left_before
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.named_uses import is_left_over
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import Waypoint, ways
from torchrepro_lint.program.seeds.mode_tests import follows_mode, tests_mode

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LastingDropout", "lasting_dropout"]

#: What a file says that evaluates a model.
_EVALUATES = re.compile(rb"\.eval\(\)|no_grad|inference_mode|validation_step|\.evaluate\(|\.predict\(|\.train\(False\)")


@dataclass(frozen=True, slots=True, eq=False)
class LastingDropout:
    """A call that drops in evaluation as well. `kind`: a function without its `mode` argument, one of which only the
    probability says so, or a layer that is made there. `is_method`: `self` is the module around it.
    """

    call: KnownCall
    kind: Literal["mode", "rate", "layer"]
    row: DropoutCall | None = None
    is_method: bool = False

    @property
    def site(self) -> Site:
        """The place of the call."""
        return self.call.site


def lasting_dropout(program: Program) -> Iterator[LastingDropout]:
    """All of it in the files whose findings somebody waits for, in the order of files and text."""
    found: list[LastingDropout] = []
    for group in asked_calls(program, _functions() | known_calls("dropout_layers")):
        one = _layer(program, group) if group[0].name in known_calls("dropout_layers") else _function(program, group)
        if one is not None and _runs_in_evaluation(program, group[0]):
            found.append(one)
    yield from sorted(found, key=lambda one: (str(one.site.path), one.site.number))


@cache
def _functions() -> frozenset[str]:
    return frozenset(dropout_calls())


def _function(program: Program, group: list[KnownCall]) -> LastingDropout | None:
    first = group[0]
    row = dropout_calls()[first.name]
    if row.mode is not None and any(argument(one.arguments, row.mode.name, row.mode.position)[0] for one in group):
        return None
    given = next((one.value for one in first.call.args if one.keyword == row.rate.name), None)
    if given is None and row.rate.position is not None:
        plain = [one.value for one in first.call.args if one.keyword is None]
        given = plain[row.rate.position] if row.rate.position < len(plain) else None
    if given is None and not row.rate_if_missing:
        return None
    if given is not None and (
        _is_zero(group, row.rate) or program.ev.to_the_end(lambda: _follows_mode(program, group, given))
    ):
        return None
    return LastingDropout(first, "rate" if row.mode is None else "mode", row, _is_in_a_module(program, first))


def _follows_mode(program: Program, group: list[KnownCall], given: tree.Expr) -> bool:
    return any(follows_mode(program.ev, given, one.frame) for one in group)


def _is_zero(group: list[KnownCall], rate: Parameter) -> bool:
    """Whether a probability is 0 by all that is given for it. What nothing in the project names, as where a network is
    made with settings from outside, leaves it at that; an option of the program does not.
    """
    given = [argument(one.arguments, rate.name, rate.position)[1] for one in group]
    known = [value.value for values in given for value in values if isinstance(value, Constant)]
    if any(_is_named(value) for values in given for value in values):
        return False
    return bool(known) and not any(known)


def _is_named(value: Value) -> bool:
    """Whether a value is one that the text names and that is not known, as an option is. What a layer holds, `drop.p`,
    comes beside what the layer was given.
    """
    if isinstance(value, MemberOf) and isinstance(value.receiver, ExternalObject):
        return value.receiver.name not in known_calls("dropout_layers")
    return value is not UNKNOWN and not isinstance(value, Constant)


def _layer(program: Program, group: list[KnownCall]) -> LastingDropout | None:
    """A layer that is made and called in one go, in a function that runs for each batch."""
    first = group[0]
    if not isinstance(first.scope.node, tree.FunctionDef) or first.scope.name == "__init__":
        return None
    if _is_zero(group, Parameter("p", 0)):
        return None
    parents = parents_of(program.ev, first.facts)
    above = parents.of(first.call)
    if isinstance(above, tree.Call) and above.func is first.call:
        return LastingDropout(first, "layer")
    match above:
        case tree.Assign(targets=(tree.Name(id=name),), value=value) if value is first.call:
            function = parents.function(first.call)
            named = [use for use in parents.names.get(name, ()) if parents.function(use) is function]
            uses = [use for use in named if use is not above.targets[0]]
            calls = [parents.of(use) for use in uses]
            if calls and all(isinstance(one, tree.Call) and one.func in uses for one in calls):
                return LastingDropout(first, "layer")
    return None


def _is_in_a_module(program: Program, one: KnownCall) -> bool:
    """Whether the call is in a method of a `torch.nn.Module`, with the module at hand as `self`."""
    cls = class_of_method(program.ev, one.facts, one.scope) if one.scope.self_name is not None else None
    return cls is not None and is_network_class(program.ev, cls)


# --- where it runs ------------------------------------------------------------------------------------------------


def _runs_in_evaluation(program: Program, one: KnownCall) -> bool:
    """Whether the call may run while a model is evaluated: no test on the way to it asks for the mode, no name says
    that it is there to draw, and it is not a part of the loop of a training.
    """
    if program.is_test(one.facts.path) or not program.imports.any_together(one.facts.path, _EVALUATES):
        return False
    if _is_on_purpose(one.facts.path.stem) or any(map(_is_on_purpose, _names_around(one.scope))):
        return False
    if any(map(function_words("about_data").fullmatch, one.facts.path.with_suffix("").parts[-2:])):
        return False
    if is_left_over(program, one.facts, one.scope):
        return False
    return any(
        not any(_hangs_on_mode(program, point) or _trains(point.scope) for point in way)
        for way in ways(program.ev, one.facts, one.scope, one.call.site)
    )


def _names_around(scope: Scope) -> Iterator[str]:
    while scope.parent is not None:
        yield scope.name
        scope = scope.parent


def _is_on_purpose(name: str) -> bool:
    return function_words("random_on_purpose").search(name) is not None


def _hangs_on_mode(program: Program, point: Waypoint) -> bool:
    """Whether a test around a place, or one before it that leaves the function, asks in which mode the model is."""
    place = Place(point.facts, point.scope, point.path, Site(point.facts.path, point.site))
    asked = (*guards(program.ev, place), *left_before(place))
    return any(tests_mode(one.test) or _asks_for_purpose(one.test) for one in asked)


def _asks_for_purpose(test: tree.Expr) -> bool:
    return any(map(_is_on_purpose, words_in([test])))


def _trains(scope: Scope) -> bool:
    """Whether a function takes the steps of a training itself."""
    return any(isinstance(call.func, tree.Attribute) and call.func.attr == "backward" for call, _ in scope.calls)
