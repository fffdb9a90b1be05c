"""What functions of the project return and yield, in the frames in which a call runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.core.access import EACH
from torchrepro_lint.program.core.queries import CallSite, Origin, Query
from torchrepro_lint.program.evaluation.arguments import bound_frame, merged
from torchrepro_lint.program.evaluation.attributes import method_frame
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Site,
    Value,
    Values,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["frames_of", "returned_by", "yielded_by"]


def returned_by(ev: Evaluator, query: Query, functions: Values, call: tree.Call | None = None) -> Iterator[Origin]:
    """What functions of the project return, called by `call`, or unseen and without arguments."""
    arguments = ev.arguments(call.args, query.frame) if call is not None else Arguments()
    for function in ordered(functions):
        for inner in _frames(ev, function, arguments):
            # What a function returns that calls itself, its other returns say.
            if not any(one.scope is inner.scope for one in query.calls):
                yield from _returned(ev, query, inner, call)


def yielded_by(ev: Evaluator, query: Query, call: tree.Call) -> Iterator[Origin]:
    """What the generator functions of the project yield that a call calls."""
    for inner in frames_of(ev, call, query.frame):
        yield from _yielded(query, inner, call)


def frames_of(ev: Evaluator, call: tree.Call, caller: Frame) -> Iterator[Frame]:
    """The frames in which a call runs functions of the project."""
    arguments = ev.arguments(call.args, caller)
    for function in ordered(ev.values(call.func, caller)):
        yield from _frames(ev, function, arguments)


def _frames(ev: Evaluator, function: Value, arguments: Arguments) -> Iterator[Frame]:
    """The frames in which a call of a function of the project runs."""
    match function:
        case FunctionValue():
            yield bound_frame(ev, function, arguments)
        case MethodValue():
            yield method_frame(ev, function, arguments)
        case Partial():
            for inner in ordered(function.function):
                yield from _frames(ev, inner, merged(function.arguments, arguments))
        case Instance():
            for method in ordered(ev.attribute(function, "__call__")):
                if isinstance(method, MethodValue):
                    yield from _frames(ev, method, arguments)


def _returned(ev: Evaluator, query: Query, inner: Frame, call: tree.Call | None) -> Iterator[Origin]:
    node = inner.scope.node
    entered, site = _entered(query, inner, call)
    if isinstance(node, tree.Lambda):
        yield Origin(entered.at(node.body, inner), "returned", site)
    elif isinstance(node, tree.FunctionDef) and node.is_generator:
        if query.access and query.access[0].is_into_container:
            yield from _yielded(query.below(), inner, call)
    else:
        for statement, path in inner.scope.returns:
            if statement.value is not None and ev.may_run(statement.site, path, inner):
                yield Origin(entered.at(statement.value, inner), "returned", site)


def _yielded(query: Query, inner: Frame, call: tree.Call | None) -> Iterator[Origin]:
    entered, site = _entered(query, inner, call)
    for one in inner.scope.yields:
        if one.value is not None:
            steps = (EACH,) if one.delegates else ()
            yield Origin(entered.at(one.value, inner, *steps), "returned", site)


def _entered(query: Query, inner: Frame, call: tree.Call | None) -> tuple[Query, Site | None]:
    if call is None:
        return query, None
    return query.entering(CallSite(inner.scope, call, query.frame)), Site(query.frame.facts.path, call.site)
