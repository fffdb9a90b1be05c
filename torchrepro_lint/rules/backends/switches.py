"""What the rules about switches say alike."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.running.reach import Link

__all__ = ["intent_link", "switch_site"]


def switch_site(one: Evidence) -> Site:
    """Where a finding about a switch is: at the statement, or at the argument of a call."""
    if isinstance(one.node, tree.Call):
        for arg in one.node.args:
            if arg.value is one.value:
                return Site(one.site.path, arg.site)
    return one.site


def intent_link(one: Evidence) -> Link:
    """A line of the trace: what shows the intent."""
    words = f"seeds: {one.name}" if one.effect == "seed" else f"asks for determinism: {one.name}"
    return Link(one.site, words)
