"""Whether the function that a process or a thread is started with can take what it is given: where not, it ends with a
TypeError before it does anything.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.callables import ExternalCallable, external_callable
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.arguments import external_argument, merged
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.signatures import can_take
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    DictValue,
    External,
    SequenceValue,
    Values,
    unknown,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["NUMBER", "is_started_with_number", "startable", "starts_afresh"]

#: What comes before the `args` of `spawn`: the number of the process.
NUMBER: Final = Arguments((unknown(),), ())


def startable(ev: Evaluator, known: ExternalCallable, functions: Values, arguments: Arguments) -> Values:
    """Those of `functions` that can take what a call with `arguments` starts them with; all of them where that is not
    known, or the call starts nothing.
    """
    if "args" not in known.parameters:
        return functions
    given = _given(known, arguments)
    return frozenset(value for value in functions if can_take(ev, value, given))


def starts_afresh(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a call starts processes that begin afresh, in a function that can take what it is given."""
    names = {canonical(value.name) for value in ev.values(call.func, frame) if isinstance(value, External)}
    for name in names & known_calls("starts_afresh"):
        known = external_callable(name)
        if known is None:
            return True
        arguments = ev.arguments(call.args, frame)
        functions, _ = external_argument(arguments, known.parameters, known.runs[0].parameter)
        if not functions or startable(ev, known, functions, arguments):
            return True
    return False


def is_started_with_number(known: ExternalCallable) -> bool:
    """Whether a function gets the number of its process before what `args` holds."""
    return known in _with_number()


@cache
def _with_number() -> frozenset[ExternalCallable | None]:
    return frozenset(map(external_callable, known_calls("starts_with_number")))


def _given(known: ExternalCallable, arguments: Arguments) -> Arguments:
    """What the function is called with."""
    args, may_lack = external_argument(arguments, known.parameters, "args")
    only = next(iter(args)) if len(args) == 1 else None
    positional: tuple[Values, ...] = ()
    is_open = bool(args) or not may_lack
    if isinstance(only, SequenceValue) and only.items is not None and not may_lack:
        positional, is_open = only.items, False
    keywords, are_open = _keywords(known, arguments)
    given = Arguments(positional, keywords, is_open, are_open)
    return merged(NUMBER, given) if is_started_with_number(known) else given


def _keywords(known: ExternalCallable, arguments: Arguments) -> tuple[tuple[tuple[str, Values, bool], ...], bool]:
    """What is given by name, and whether there may be more."""
    if "kwargs" not in known.parameters:
        return (), False
    kwargs, may_lack = external_argument(arguments, known.parameters, "kwargs")
    if kwargs == NOTHING and may_lack:
        return (), False
    only = next(iter(kwargs)) if len(kwargs) == 1 else None
    if not isinstance(only, DictValue) or may_lack:
        return (), True
    named = tuple((key, values, certain) for key, values, certain in only.entries if isinstance(key, str))
    return named, only.open
