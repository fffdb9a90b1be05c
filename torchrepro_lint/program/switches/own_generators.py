"""Generators with a seed that a program makes for itself, beside the global ones: `rng = np.random.default_rng(0)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, is_none_literal
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.dead_switches import dropped_generators
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["OwnGenerator", "generator_at_hand", "own_generators_in"]


@dataclass(frozen=True, slots=True)
class OwnGenerator:
    """The call that makes one in a scope, the dotted name of what it calls, and which global generator (`python`,
    `numpy`) is of the same kind. `held` is the name or attribute that has it, if one gets the call itself.
    """

    name: str
    rng: str
    call: tree.Call
    scope: Scope
    site: Site
    held: str | None


def own_generators_in(program: Program, path: Path) -> Sequence[OwnGenerator]:
    """Those that a file makes, in the order of its scopes and their text."""
    return program.once(("own generators", path), lambda: tuple(_made_in(program, path)))


def _made_in(program: Program, path: Path) -> Iterator[OwnGenerator]:
    words = last_parts(dropped_generators())
    facts = program.facts(path) if program.project.holds(path, any_word(words)) else None
    for scope in facts.walk_scopes() if facts is not None else ():
        for call, _ in sorted(scope.calls, key=lambda pair: pair[0].site):
            if facts is not None and _has_seed(call) and called_name(call.func) in words:
                yield from _of_call(program, facts, scope, call)


def _has_seed(call: tree.Call) -> bool:
    return bool(call.args) and not is_none_literal(call.args[0].value)


def _of_call(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> Iterator[OwnGenerator]:
    for value in program.ev.values(call.func, frame_without_callers(program.ev, facts, scope)):
        name = canonical(value.name) if isinstance(value, External) else ""
        known = dropped_generators().get(name)
        if known is not None:
            yield OwnGenerator(name, known.rng, call, scope, Site(facts.path, call.site), _holder(scope, call))
            return


def _holder(scope: Scope, call: tree.Call) -> str | None:
    names = (one.name for each in scope.bindings.values() for one in each if one.node is call and not one.unpack)
    stores = (dotted_name(one.target) for one in scope.stores if one.value is call)
    return next((one for one in (*names, *stores) if one is not None), None)


def generator_at_hand(program: Program, event: Event, rng: str) -> OwnGenerator | None:
    """The generator of the same kind that a draw from a global one could have drawn from: that of its function, of a
    function around it, of its class, or of its module, the nearest first.
    """
    around = event.frame.scope if event.frame is not None else None
    made = own_generators_in(program, event.site.path) if around is not None else ()
    while around is not None:
        scope, around = around, around.parent
        for one in made:
            if one.rng == rng and one.held is not None and _is_of(one, one.held, scope):
                return one
    return None


def _is_of(made: OwnGenerator, held: str, scope: Scope) -> bool:
    """Whether code in a scope sees what holds a generator: a name of it, or an attribute that a method of the class
    gives its objects.
    """
    if "." not in held:
        return made.scope is scope and not isinstance(scope.node, tree.ClassDef)
    owner, _, _ = held.partition(".")
    return isinstance(scope.node, tree.ClassDef) and made.scope.parent is scope and owner == made.scope.self_name
