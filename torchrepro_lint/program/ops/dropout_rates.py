"""The probability with which an event of dropout drops."""

from __future__ import annotations

from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.dropout_calls import dropout_calls
from torchrepro_lint.program.evaluation.values import Arguments, Constant, ExternalObject, Values
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.running.reach import Event

__all__ = ["is_of_a_layer", "may_drop", "rates_of", "surely_drops"]


def is_of_a_layer(event: Event) -> bool:
    """Whether the event is the call of a layer of dropout."""
    name, _, method = event.name.rpartition(".")
    return method in ("__call__", "forward") and name in known_calls("dropout_layers")


def rates_of(event: Event) -> Values | None:
    """What the probability of a dropout can be; None where the event is no dropout."""
    if is_of_a_layer(event):
        made = event.receiver.arguments if isinstance(event.receiver, ExternalObject) else None
        return _given(made, Parameter("p", 0), 0.5)
    row = dropout_calls().get(event.name)
    return _given(event.arguments, row.rate, row.rate_if_missing) if row is not None else None


def _given(arguments: Arguments | None, rate: Parameter, otherwise: float) -> Values:
    given, values = argument(arguments, rate.name, rate.position) if arguments is not None else (True, frozenset())
    return values if given else frozenset((Constant(otherwise),))


def may_drop(event: Event) -> bool:
    """Whether the probability of a dropout is not known to be 0."""
    known = [one.value for one in rates_of(event) or () if isinstance(one, Constant)]
    return any(known) or not known


def surely_drops(event: Event) -> bool:
    """Whether the probability of a dropout can be a number other than 0 that is known."""
    return any(isinstance(one, Constant) and bool(one.value) for one in rates_of(event) or ())
