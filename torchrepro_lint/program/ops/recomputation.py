"""Activations that are computed again in the backward pass, with other random numbers than in the forward pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    Constant,
    Site,
    Values,
)
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ops.dropout_rates import may_drop, rates_of, surely_drops
from torchrepro_lint.program.running.callers import contexts, frame_without_callers
from torchrepro_lint.program.running.known_calls import asked_calls
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Recomputation", "recomputations"]

#: The argument that decides whether the state of the generators is kept for the second time.
_SWITCH: Final = "preserve_rng_state"
_OWN: Final = re.compile(rb"autograd\.Function|import Function\b")
#: What a file says that puts the state of a generator back.
_RESTORES: Final = re.compile(rb"rng_state|fork_rng|rng_tracker|set_states")
_FUNCTION: Final = "torch.autograd.Function"


@dataclass(frozen=True, slots=True, eq=False)
class Recomputation:
    """A place that computes something again, and what draws there, with the chain that leads to it. `is_sure`: it draws
    with a probability that is known.
    """

    site: Site
    kind: Literal["switched off", "own"]
    draw: Event
    chain: tuple[Link, ...]
    is_sure: bool


def recomputations(program: Program) -> Iterator[Recomputation]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    found = {one.site: one for one in (*_own(program), *_switched_off(program))}
    yield from (found[site] for site in program.asked_in_order(found))


# --- preserve_rng_state=False -------------------------------------------------------------------------------------


def _switched_off(program: Program) -> Iterator[Recomputation]:
    if not program.project.containing(_SWITCH):
        return  # asked first: who calls what is computed again is much to ask
    for group in asked_calls(program, known_calls("recomputes")):
        for one in group:
            _, values = argument(one.arguments, _SWITCH, None)
            if not values or not all(isinstance(value, Constant) and value.value is False for value in values):
                continue
            _, functions = argument(one.arguments, "function", 0)
            if (drawn := _drawn(program, functions)) is not None:
                link = Link(one.site, "computes this again in the backward pass", frame=one.frame)
                yield Recomputation(one.site, "switched off", drawn, (link, *drawn.chain), surely_drops(drawn))
                break


# --- functions of the project -------------------------------------------------------------------------------------


def _own(program: Program) -> Iterator[Recomputation]:
    for path in program.asked_with(_OWN):
        facts = program.facts(path)
        if facts is None or program.project.holds(path, _RESTORES):
            continue
        for cls in facts.scope.children:
            if isinstance(cls.node, tree.ClassDef) and _is_a_function(program, facts, cls):
                yield from _of_class(program, facts, cls)


def _is_a_function(program: Program, facts: ModuleFacts, cls: Scope) -> bool:
    assert isinstance(cls.node, tree.ClassDef)
    value = ClassValue(cls.node, program.ev.module_frame(facts))
    return _FUNCTION in map(canonical, external_bases(program.ev, value))


def _of_class(program: Program, facts: ModuleFacts, cls: Scope) -> Iterator[Recomputation]:
    """The recomputation in the `backward` of a class, if what it is applied to draws."""
    methods = {one.name: one for one in cls.children if isinstance(one.node, tree.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None:
        return
    for position, attr in _kept(forward):
        again = next((call for call, _ in backward.calls if _calls_kept(backward, call, attr)), None)
        if again is None:
            continue
        program.ev.begin_question()
        for applied, functions in _applied(program, facts, cls, position):
            if (drawn := _drawn(program, functions)) is not None:
                chain = (Link(applied, f"{cls.name}.apply: runs this, and again in the backward pass"), *drawn.chain)
                yield Recomputation(Site(facts.path, again.site), "own", drawn, chain, surely_drops(drawn))
                return


def _kept(forward: Scope) -> Iterator[tuple[int, str]]:
    """The arguments of `apply` that `forward` keeps in its context, each by its position, and the attribute."""
    assert isinstance(forward.node, tree.FunctionDef)
    names = [param.name for param in forward.node.params]
    for store in forward.stores:
        match store:
            case store if isinstance(store.target, tree.Attribute) and isinstance(store.target.value, tree.Name):
                if isinstance(store.value, tree.Name) and store.value.id in names[1:]:
                    if store.target.value.id == names[0]:
                        yield names.index(store.value.id) - 1, store.target.attr


def _calls_kept(backward: Scope, call: tree.Call, attr: str) -> bool:
    assert isinstance(backward.node, tree.FunctionDef)
    match call.func:
        case tree.Attribute(attr=called, value=tree.Name(id=name)):
            return called == attr and name == backward.node.params[0].name
    return False


def _applied(program: Program, facts: ModuleFacts, cls: Scope, position: int) -> Iterator[tuple[Site, Values]]:
    """The calls of `apply` of a class, each with what it is given at a position by one of those that run it."""
    for path in sorted(_naming(program, facts, cls)):
        other = program.facts(path)
        for scope in other.walk_scopes() if other is not None else ():
            for call, arms in scope.calls:
                match call.func:
                    case tree.Attribute(attr="apply", value=owner) if len(call.args) > position:
                        assert other is not None
                        if _is_class(program, other, scope, owner, cls):
                            for frame in contexts(program.ev, other, scope):
                                if not program.ev.may_run(call.site, arms, frame):
                                    continue
                                yield Site(path, call.site), program.ev.values(call.args[position].value, frame)


def _naming(program: Program, facts: ModuleFacts, cls: Scope) -> set[Path]:
    naming = set(program.project.matching(any_word((cls.name,))))
    return (naming - program.tests) | {facts.path}


def _is_class(program: Program, facts: ModuleFacts, scope: Scope, owner: tree.Expr, cls: Scope) -> bool:
    values = program.ev.values(owner, frame_without_callers(program.ev, facts, scope))
    return any(isinstance(value, ClassValue) and value.node is cls.node for value in values)


# --- what draws ---------------------------------------------------------------------------------------------------


def _drawn(program: Program, functions: Values) -> Event | None:
    """The first dropout in what is run again whose probability is not known to be 0; one that is known comes first."""
    events = [one for one in program.walker.calling(functions) if rates_of(one) is not None]
    return min(filter(may_drop, events), key=lambda one: not surely_drops(one), default=None)
