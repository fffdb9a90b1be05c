"""Results that are taken in the order in which their jobs are done, and where that order goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.orders.order_carriers import Sink
from torchrepro_lint.program.orders.order_flow import find_sink, find_sink_of_turns
from torchrepro_lint.program.orders.queued_results import queued_results
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.never_read import is_given_up

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["CompletionOrder", "completion_orders", "completions"]


@dataclass(frozen=True, slots=True, eq=False)
class CompletionOrder:
    """A call that gives what is done first, and what the order decides."""

    call: KnownCall
    sink: Sink


def completion_orders(program: Program) -> Iterator[CompletionOrder]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    for group in asked_calls(program, completions()):
        one = group[0]
        if is_given_up(program.ev, one.facts, one.call):
            continue
        sink = find_sink(program, one.facts, one.call)
        if sink is not None:
            yield CompletionOrder(one, sink)
    for queued in queued_results(program):
        sink = find_sink_of_turns(program, queued.call.facts, queued.call.call, queued.loop)
        if sink is not None:
            yield CompletionOrder(queued.call, sink)


@cache
def completions() -> frozenset[str]:
    """The functions that give what is done first, by their qualified names."""
    return frozenset(map(canonical, ordering_names("completions")))
