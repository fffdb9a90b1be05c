"""Functions that a library calls, in a process, a thread or here, and what it gives them:
`spawn(worker, args=(data, 2))`, `map(function, values)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.applying import applying_words
from torchrepro_lint.knowledge.callables import external_callable, starters
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.arguments import merged
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.signatures import can_take
from torchrepro_lint.program.evaluation.values import Arguments, Value
from torchrepro_lint.program.running.applied_calls import applied_call
from torchrepro_lint.program.running.call_index import NamedCall, called_name, calls_in
from torchrepro_lint.program.running.decorator_uses import is_function
from torchrepro_lint.program.running.events import outside_name
from torchrepro_lint.program.running.started_arguments import NUMBER, is_started_with_number
from torchrepro_lint.program.running.written_arguments import written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["started_calls", "started_uses", "starting_words"]


def started_uses(ev: Evaluator, scope: Scope) -> tuple[tuple[Value, Arguments], ...]:
    """What a library calls, in a process or a thread or here, that can be this function, with what each is given."""
    return ev.remembered(("started-uses", id(scope)), lambda: tuple(_started_uses(ev, scope)), ())


def _started_uses(ev: Evaluator, scope: Scope) -> Iterator[tuple[Value, Arguments]]:
    for one in _starts_of(ev, scope):
        for frame in ev.contexts(one.facts, one.scope):
            if ev.may_run(one.call.site, one.path, frame):
                yield from _started_with(ev, one.call, frame, scope)


def _starts_of(ev: Evaluator, scope: Scope) -> Iterator[NamedCall]:
    """The calls that by their names alone start something with the function of this scope."""
    assert isinstance(scope.node, tree.FunctionDef)
    name = scope.node.name
    for word in sorted(starting_words()):
        for path in ev.project.containing(word):
            if path in ev.project.mentioning(name):
                facts = ev.project.facts(path)
                if facts is not None:
                    yield from (one for one in calls_in(ev, facts, word) if _names(one.call, name))


def _names(call: tree.Call, name: str) -> bool:
    """Whether an argument ends with this name: `worker`, `self.worker`, `partial(worker, 2)`."""
    for arg in call.args:
        value = arg.value
        if isinstance(value, tree.Call) and value.args:
            value = value.args[0].value
        if called_name(value) == name:
            return True
    return False


def _started_with(ev: Evaluator, call: tree.Call, frame: Frame, scope: Scope) -> Iterator[tuple[Value, Arguments]]:
    """What a call of a library calls that can be the function of `scope`, with the arguments that it gets."""
    for value, applied in _applied(ev, call, frame, scope):
        yield value, ev.arguments(applied.args, frame)
    for value, spread, is_numbered in _starting(ev, call, frame, scope):
        given = ev.arguments(spread, frame)
        given = merged(NUMBER, given) if is_numbered else given
        if can_take(ev, value, given):  # another one ends before it does anything
            yield value, given


def _applied(ev: Evaluator, call: tree.Call, frame: Frame, scope: Scope) -> Iterator[tuple[Value, tree.Call]]:
    """What a call of a library calls here that can be the function of `scope`, and that call as it would be written."""
    applied = applied_call(ev, call, frame)
    if applied is not None:
        for value in ordered(ev.values(applied[0].func, frame)):
            if is_function(value, scope):
                yield value, applied[0]


def _starting(
    ev: Evaluator, call: tree.Call, frame: Frame, scope: Scope
) -> Iterator[tuple[Value, tuple[tree.Arg, ...], bool]]:
    """What a call starts that can be the function of `scope`, the arguments that it is called with as they would be
    written, `*args, **kwargs`, and whether the number of the process comes before them.
    """
    for starter in ordered(ev.values(call.func, frame)):
        name = outside_name(starter)
        known = external_callable(name) if name is not None and canonical(name) in starters() else None
        if name is None or known is None:
            continue
        function = written_argument(call, Parameter(known.runs[0].parameter, known.runs[0].position))
        if function is None:
            continue
        spread = tuple(_spread(call, known.parameters))
        for value in ordered(ev.values(function, frame)):
            if is_function(value, scope):
                yield value, spread, is_started_with_number(known)


def _spread(call: tree.Call, parameters: tuple[str, ...]) -> Iterator[tree.Arg]:
    """What `args` and `kwargs` hold, as arguments of the function that is started."""
    for name, star in (("args", "*"), ("kwargs", "**")):
        value = written_argument(call, Parameter(name, parameters.index(name) if name in parameters else None))
        if value is not None:
            yield tree.Arg(value.site, value, star=star)


def started_calls(ev: Evaluator, scope: Scope) -> tuple[tuple[tree.Call, Frame], ...]:
    """The calls that processes and threads make of this function, as they would be written, each with the frame of what
    starts it. Those that begin with the number of a process are left out.
    """
    return ev.remembered(("started-calls", id(scope)), lambda: tuple(_started_calls(ev, scope)), ())


def _started_calls(ev: Evaluator, scope: Scope) -> Iterator[tuple[tree.Call, Frame]]:
    for one in _starts_of(ev, scope):
        for frame in ev.contexts(one.facts, one.scope):
            if ev.may_run(one.call.site, one.path, frame):
                for _, applied in islice(_applied(ev, one.call, frame, scope), 1):
                    yield applied, frame
                for value, spread, is_numbered in _starting(ev, one.call, frame, scope):
                    function = next((arg.value for arg in one.call.args if arg.keyword == "target"), None)
                    if not is_numbered and spread and can_take(ev, value, ev.arguments(spread, frame)):
                        yield tree.Call(one.call.site, function or one.call.args[0].value, spread), frame


@cache
def starting_words() -> frozenset[str]:
    """The last parts of the names of what is looked at here."""
    return last_parts(starters()) | applying_words()
