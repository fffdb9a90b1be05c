"""Evaluations of a model with dropout in programs that never switch a model to evaluation mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    FunctionValue,
    Instance,
    MethodValue,
    ModuleValue,
    Site,
)
from torchrepro_lint.program.ops.dropout_rates import is_of_a_layer, may_drop
from torchrepro_lint.program.ops.regions import is_without_grad
from torchrepro_lint.program.ops.tensor_values import is_network_class
from torchrepro_lint.program.programs.entry_path import EntryRun, asked_entry_runs
from torchrepro_lint.program.programs.run_places import comes_by
from torchrepro_lint.program.running.callers import contexts, frame_without_callers
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.entry_walk import IN_TRAINING
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.reach import Event, Link, shown
from torchrepro_lint.program.seeds.switched_models import are_left, switched_models

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Evaluation", "unswitched_evaluations"]

_LOADS = re.compile(rb"load_state_dict|torch\.load\(|load_file\(")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A call of a model for its results alone, and a layer of it that draws there, with the chain from the call on.
    `trains`: the program takes the steps of a training too. `switched`: the models that it puts into evaluation mode,
    by their names.
    """

    site: Site
    layer: Event
    chain: tuple[Link, ...]
    trains: bool
    switched: tuple[str, ...] = ()


def unswitched_evaluations(program: Program) -> Iterator[Evaluation]:
    """All of them, in the order of files and text."""
    found: dict[Site, Evaluation] = {}
    for run in asked_entry_runs(program):
        if program.is_test(run.entry.path) or run.finds(program_words("switches_mode")):
            continue
        if not run.finds(_WITHOUT_GRADIENT) or not (run.finds(_LOADS) or run.trains):
            continue
        if _has_a_trainer_of_others(run):
            continue
        switched = switched_models(run)
        for one in (*_evaluations(run), *_calls_of_models(run)) if switched is not None else ():
            if not run.trains and _is_to_draw(run, one.site):
                continue
            if not switched:
                found.setdefault(one.site, one)
            elif one.site not in found and are_left(run, one.chain, switched):
                found[one.site] = replace(one, switched=tuple(dict.fromkeys(each.name for each in switched)))
    yield from (found[site] for site in program.asked_in_order(found))


def _is_to_draw(run: EntryRun, site: Site) -> bool:
    """Whether the function that calls a model puts it into training mode itself, `model.train()`: in a program that
    trains nothing that is there so that its dropout draws.
    """
    called = call_at(run.program.ev, site)
    model = dotted_name(called.call.func) if called is not None else None
    if called is None or model is None:
        return False
    scope = called.scope
    while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
        scope = scope.parent
    return any(
        isinstance(call.func, tree.Attribute) and call.func.attr == "train" and dotted_name(call.func.value) == model
        for call, _ in scope.calls
    )


_TRAINER = re.compile(rb"Trainer")
_TRAINER_OF_A_MODULE = re.compile(rb"\.\w*Trainer\b")
_OF_THE_PROJECT = (ClassValue, FunctionValue, ModuleValue)
_WITHOUT_GRADIENT = re.compile(rb"no_grad|inference_mode")


def _has_a_trainer_of_others(run: EntryRun) -> bool:
    """Whether a program imports a class for trainings from outside the project, by its name: it may switch the mode."""
    ev, files = run.program.ev, run.files & frozenset(run.program.project.matching(_TRAINER))
    for path in sorted(files):
        facts = run.program.facts(path)
        if facts is None or run.program.project.holds(path, _TRAINER_OF_A_MODULE):
            return True
        for scope in facts.walk_scopes():
            for name, bindings in scope.bindings.items():
                if function_words("trains_for_others").search(name) and any(
                    one.kind in ("import", "import-from") for one in bindings
                ):
                    values = ev.name(name, END, frame_without_callers(ev, facts, scope))
                    if not values or not all(isinstance(value, _OF_THE_PROJECT) for value in values):
                        return True
    return False


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


def _calls_of_models(run: EntryRun) -> Iterator[Evaluation]:
    """The calls of objects of the project's networks, each on its own: of a layer that draws in the steps of a training
    as well, the walk tells the first way to it alone.
    """
    program = run.program
    for path in sorted(run.files & frozenset(program.project.matching(_WITHOUT_GRADIENT))):
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            if facts is None or not _is_for_an_evaluation(run, scope, [scope.name, path.stem]):
                continue
            for call, _ in scope.calls:
                if is_without_grad(program.ev, facts, scope, call.site):
                    program.ev.begin_question()
                    drawing = program.once(
                        ("evaluates", path, call.site), partial(_drawing, program, facts, scope, call)
                    )
                    if drawing is not None and comes_by(program, run, facts, scope, call.site):
                        yield Evaluation(Site(path, call.site), drawing, drawing.chain, run.trains)


def _drawing(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> Event | None:
    """A layer that draws in a network of the project that a call runs, with the chain from the call on."""
    for frame in contexts(program.ev, facts, scope):
        for value in ordered(program.ev.values(call.func, frame)):
            model = value.receiver if isinstance(value, MethodValue) else value
            if isinstance(model, Instance) and is_network_class(program.ev, model.cls):
                site = program.ev.site(call, frame)
                for event in program.walker.calling(frozenset((value,)), None, site):
                    if is_of_a_layer(event) and may_drop(event):
                        return event.after(Link(site, f"calls {shown(call.func)}", frame=frame))
    return None


def _is_evaluation(run: EntryRun, event: Event, index: int, place: Place) -> bool:
    """Whether a model is called for an evaluation: in a program that trains nothing, or where a name says so."""
    names = [place.scope.name, place.facts.path.stem]
    for link in event.chain[:index]:
        around = place_of(run.program.ev, link.site)
        names += [around.scope.name] if around is not None else []
    return _is_for_an_evaluation(run, place.scope, names)


def _is_for_an_evaluation(run: EntryRun, scope: Scope, names: Sequence[str]) -> bool:
    """Whether code of a scope is for an evaluation, by that and the names around it."""
    if any(isinstance(call.func, tree.Attribute) and call.func.attr == "backward" for call, _ in scope.calls):
        return False
    if any(map(function_words("random_on_purpose").search, names)):
        return False
    return not run.trains or any(map(function_words("evaluates").search, names))
