"""Draws of which something is left: a model keeps its first weights, an input is more than measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, Site
from torchrepro_lint.program.ops.dropout_rates import may_drop
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.programs.first_weights import brings_weights, building_calls, draws_weights
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calls_at import called_at
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.evaluation_mode import is_switched_off
from torchrepro_lint.program.seeds.loaded_weights import are_loaded_over
from torchrepro_lint.program.seeds.measured_models import is_only_measured
from torchrepro_lint.program.seeds.parts_in_training import trains_parts

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["kept_draw"]


def kept_draw(run: EntryRun, event: Event) -> Event | None:
    """The draw, if something is left of it, or else the same one for another model; None if there is none."""
    program = run.program
    if not draws_weights(event):
        is_off = not may_drop(event) or (is_switched_off(program, event) and not trains_parts(run))
        return None if is_off or is_only_measured(program, event) else event
    if not run.trains or brings_weights(event):
        return None
    return next((one for one in chain([event], _again(program, event)) if not _is_lost(program, one)), None)


def _is_lost(program: Program, event: Event) -> bool:
    return is_only_measured(program, event) or are_loaded_over(program, event)


def _again(program: Program, event: Event) -> Iterator[Event]:
    """The draw as it is made again for the further models that are built in one of the functions on the way to it, by
    the same call: `teacher = Net()`, `student = Net()`. The walk reaches it once.
    """
    for site in reversed(building_calls(program, event)):
        place = place_of(program.ev, site)
        call = called_at(place) if place is not None else None
        if place is None or call is None or all(link.site != site for link in event.chain):
            continue
        for other in _same_calls(program, place, call):
            there = Site(site.path, other.site)
            links = (replace(link, site=there) if link.site == site else link for link in event.chain)
            yield replace(event, chain=tuple(links))


def _same_calls(program: Program, place: Place, call: tree.Call) -> Iterator[tree.Call]:
    """The calls in a scope after one that call the same function or class."""
    frame = frame_without_callers(program.ev, place.facts, place.scope)
    meant = program.ev.values(call.func, frame)
    if not meant or not all(isinstance(value, ClassValue | FunctionValue) for value in meant):
        return
    written = dotted_name(call.func)
    for other, _ in place.scope.calls:
        if other.site > call.site and dotted_name(other.func) == written is not None:
            if program.ev.values(other.func, frame) == meant:
                yield other
