"""Evaluations of a model with dropout in programs that never switch a model to evaluation mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ops.dropout_rates import is_of_a_layer, may_drop
from torchrepro_lint.program.ops.regions import is_without_grad
from torchrepro_lint.program.running.entry_path import EntryRun, asked_entry_runs
from torchrepro_lint.program.running.entry_walk import IN_TRAINING
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.reach import Event, Link

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Evaluation", "unswitched_evaluations"]

_LOADS = re.compile(rb"load_state_dict|torch\.load\(|load_file\(")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A call of a model for its results alone, and a layer of it that draws there, with the chain from the call on.
    `trains`: the program takes the steps of a training too.
    """

    site: Site
    layer: Event
    chain: tuple[Link, ...]
    trains: bool


def unswitched_evaluations(program: Program) -> Iterator[Evaluation]:
    """All of them, in the order of files and text."""
    found: dict[Site, Evaluation] = {}
    for run in asked_entry_runs(program):
        if program.is_test(run.entry.path) or run.finds(program_words("switches_mode")):
            continue
        if not run.finds(_WITHOUT_GRADIENT) or not (run.finds(_LOADS) or run.trains):
            continue
        for one in _evaluations(run):
            found.setdefault(one.site, one)
    yield from (found[site] for site in program.asked_in_order(found))


_WITHOUT_GRADIENT = re.compile(rb"no_grad|inference_mode")


def _evaluations(run: EntryRun) -> Iterator[Evaluation]:
    for event in run.events:
        if event.note == IN_TRAINING or not (is_of_a_layer(event) and may_drop(event)):
            continue
        for index, link in enumerate(event.chain):
            place = place_of(run.program.ev, link.site) if link.note.startswith("calls ") else None
            if place is not None and is_without_grad(run.program.ev, place.facts, place.scope, link.site.number):
                if _is_evaluation(run, event, index, place):
                    yield Evaluation(link.site, event, event.chain[index:], run.trains)
                break


def _is_evaluation(run: EntryRun, event: Event, index: int, place: Place) -> bool:
    """Whether a model is called for an evaluation: in a program that trains nothing, or where a name says so."""
    if any(isinstance(call.func, tree.Attribute) and call.func.attr == "backward" for call, _ in place.scope.calls):
        return False
    names = [place.scope.name, place.facts.path.stem]
    for link in event.chain[:index]:
        around = place_of(run.program.ev, link.site)
        names += [around.scope.name] if around is not None else []
    if any(map(function_words("random_on_purpose").search, names)):
        return False
    return not run.trains or any(map(function_words("evaluates").search, names))
