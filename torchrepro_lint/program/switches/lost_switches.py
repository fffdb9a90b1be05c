"""Switches of a process that starts others, which begin afresh and do not have them.

`torch.multiprocessing.spawn` starts new interpreters, which import the main module again: what that module sets where
it is imported holds there, and what is set below `if __name__ == "__main__":`, or in a function that runs from there,
does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.started_arguments import starts_afresh
from torchrepro_lint.program.running.ways import MAX_WAYS, Way, Waypoint, runs_as_script
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LostSwitch", "lost_switches"]

#: The effects of switches that the processes have to set themselves.
_LOST: Final = frozenset({"algorithms", "algorithms-warn", "cudnn"})


@dataclass(frozen=True, slots=True)
class LostSwitch:
    """A switch, and the call that starts processes which do not have it."""

    switch: Evidence
    start: Site


def lost_switches(program: Program) -> Iterator[LostSwitch]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    for one in program.asked_evidence():
        if one.effect not in _LOST or not one.name.startswith("torch.") or not one.roots:
            continue
        if not any(program.imports.any_together(root, any_word(frozenset({"spawn"}))) for root in one.roots):
            continue
        program.ev.begin_question()
        start = _start_after(program, one)
        if start is not None and not any(_reaches(program, other, one) for other in program.evidence):
            yield LostSwitch(one, start)


def _reaches(program: Program, other: Evidence, one: Evidence) -> bool:
    """Whether another switch of the same kind is set in a program with this one, and may be set in the processes."""
    if other is one or other.effect not in _LOST or not other.roots & one.roots:
        return False
    return _start_after(program, other) is None


def _start_after(program: Program, one: Evidence) -> Site | None:
    """The call that starts processes after a switch was set, where that holds of each way to it."""
    ways = ways_of(program, one)
    found = [_started_on(program, way) for way in ways]
    return found[0] if found and len(found) <= MAX_WAYS and None not in found else None


def _started_on(program: Program, way: Way) -> Site | None:
    last = way[-1]
    if last.scope.parent is None and not runs_as_script(way):
        return None  # what imports the module sets it, too
    return next((start for place in way for start in _starts(program, place)), None)


def _starts(program: Program, place: Waypoint) -> Iterator[Site]:
    """The calls in a scope that start processes after the place, in an arm that may run with it."""
    if isinstance(place.scope.node, tree.ClassDef):
        return
    frame = frame_without_callers(program.ev, place.facts, place.scope)
    arms = dict(place.path)
    for call, path in sorted(place.scope.calls, key=lambda pair: pair[0].site):
        if call.site <= place.site or called_name(call.func) != "spawn":
            continue
        if any(arms.get(branch, arm) != arm for branch, arm in path):
            continue
        if starts_afresh(program.ev, call, frame):
            yield Site(place.facts.path, call.site)
