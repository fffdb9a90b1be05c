"""What functions do to the lists and dicts that they are passed: `fill(parts)`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, last_site
from torchrepro_lint.facts.scopes import Path, Scope
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    FunctionValue,
    MethodValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Handing", "after_handing", "handings", "passings"]

_BUILTINS = frozenset(dir(builtins))

#: Into how many calls of a function that are passed a list or dict one question looks; past these it may hold anything.
MAX_HANDED: Final = 32


class Handing(NamedTuple):
    """A call that is passed a list or dict by its name, in the arms of `path`: as the argument `number` of it."""

    site: int
    last: int
    call: tree.Call
    path: Path
    number: int


def passings(ev: Evaluator, scope: Scope, target: str) -> tuple[Handing, ...]:
    """The calls directly in a scope that are passed the dotted name `target`, in the order of the text."""
    return ev.of_text(("passings", id(scope)), lambda: _find(scope)).get(target, ())


def handings(ev: Evaluator, scope: Scope, target: str) -> tuple[Handing, ...]:
    """Those of them that call something by its name, and no builtin, and whose argument no `*` hides."""
    return tuple(one for one in passings(ev, scope, target) if _is_by_name(one, scope))


def _is_by_name(handing: Handing, scope: Scope) -> bool:
    if any(arg.star for arg in handing.call.args[: handing.number + 1]):
        return False
    match handing.call.func:
        case tree.Name(id=function):
            return function not in _BUILTINS or scope.binder(function) is not None
    return isinstance(handing.call.func, tree.Attribute)


def _find(scope: Scope) -> dict[str, tuple[Handing, ...]]:
    found: dict[str, list[Handing]] = {}
    for call, path in scope.calls:
        for number, arg in enumerate(call.args):
            name = dotted_name(arg.value)
            if name is not None:
                found.setdefault(name, []).append(Handing(call.site, last_site(call), call, path, number))
    return {name: tuple(sorted(calls)) for name, calls in found.items()}


def after_handing(
    ev: Evaluator,
    values: Values,
    handing: Handing,
    frame: Frame,
    concerns: Callable[[Scope, str], bool],
    change: Callable[[Frame, str], Values],
) -> tuple[Values, bool]:
    """Lists and dicts after one call that they are passed to, and whether it is known what is called.

    `concerns` says of a function and its parameter whether it changes that; `change` gives what they are after it has
    run in a frame.
    """
    functions = ev.values(handing.call.func, frame)
    parts: list[Values] = []
    for function in ordered(functions):
        parameter = _parameter(function, handing)
        scope = _scope_of(function)
        after = values
        if parameter is not None and scope is not None and concerns(scope, parameter):
            with ev.inside(("handed", id(scope))) as is_shallow:
                is_followed = is_shallow and ev.may_enter(("handed", id(scope)), MAX_HANDED)
                inner = _frame(ev, function, ev.arguments(handing.call.args, frame)) if is_followed else None
                after = change(inner, parameter) if inner is not None else union(values, unknown())
        parts.append(after)
    return union(*parts) if parts else values, len(functions) == 1


def _scope_of(function: Value) -> Scope | None:
    plain = function.function if isinstance(function, MethodValue) else function
    return plain.frame.facts.scope_of(plain.node) if isinstance(plain, FunctionValue) else None


def _frame(ev: Evaluator, function: Value, arguments: Arguments) -> Frame | None:
    if isinstance(function, FunctionValue):
        return bound_frame(ev, function, arguments)
    if isinstance(function, MethodValue):
        positional = (values_of(function.receiver), *arguments.positional)
        given = Arguments(positional, arguments.keywords, arguments.open_positional, arguments.open_keywords)
        return bound_frame(ev, function.function, given)
    return None


def _parameter(function: Value, handing: Handing) -> str | None:
    """The parameter of a function as which a call passes it the list or dict."""
    plain = function.function if isinstance(function, MethodValue) else function
    if not isinstance(plain, FunctionValue):
        return None
    keyword = handing.call.args[handing.number].keyword
    if keyword is not None:
        return next((param.name for param in plain.node.params if param.name == keyword), None)
    positional = [param.name for param in plain.node.params if param.kind == "positional"]
    place = handing.number + isinstance(function, MethodValue)
    return positional[place] if place < len(positional) else None
