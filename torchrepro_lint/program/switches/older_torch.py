"""Switches that are called again, without an argument that the torch of the moment may not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.switches import call_switches
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.switches.intent import Evidence
    from torchrepro_lint.source.target import TargetTorch

__all__ = ["is_for_older_torch"]


def is_for_older_torch(ev: Evaluator, one: Evidence, target: TargetTorch) -> bool:
    """Whether a switch is called only where torch refuses `warn_only`, and the target has a torch that takes it."""
    call = one.node
    if not isinstance(call, tree.Call) or not any(arm.startswith("except") for _, arm in one.path):
        return False
    return any(
        stands_in_for(parents_of(ev, one.frame.facts), call, switch.parameter.name)
        for switch in call_switches(one.name)
        if switch.parameter is not None and switch.since is not None and target.admits_from(switch.since)
    )
