"""Switches of a process that only starts others, which begin afresh and inherit none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation.values import External, FunctionValue, MethodValue
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.running.callers import frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_of_a_parent_alone"]


def is_of_a_parent_alone(program: Program, one: Evidence) -> bool:
    """Whether a switch is set where, after it, `torch.multiprocessing.spawn` is all that runs of the program."""
    frame = frame_without_callers(program.ev, one.frame.facts, one.frame.scope)
    starts = False
    for call, arms in one.frame.scope.calls:
        if call.site <= one.site.number:
            continue
        values = program.ev.values(call.func, frame)
        names = {value.name for value in values if isinstance(value, External)}
        if names & known_calls("starts_afresh") and arms == one.path:
            starts = True
        elif any(isinstance(value, (FunctionValue, MethodValue)) for value in values) or not values:
            return False
    return starts and not isinstance(one.frame.scope.node, tree.ClassDef)
