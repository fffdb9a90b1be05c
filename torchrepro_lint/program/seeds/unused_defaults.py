"""Draws in the defaults of parameters: they are made where a function is defined, whether or not a call uses them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.running.call_index import NamedCall
from torchrepro_lint.program.running.calling_places import MANY, calling_places, making_places
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.running.ways import own_way, runs_as_script
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_unused_default"]


def is_unused_default(run: EntryRun, event: Event) -> bool:
    """Whether a draw is for the default of a parameter, and no call in the program is seen to leave that default."""
    for link, inside in zip(reversed(event.chain), reversed(event.sites), strict=False):
        if not link.note.startswith("defines "):
            continue
        facts = run.program.facts(link.site.path)
        scope = _function_at(facts.walk_scopes(), link.site.number) if facts is not None else None
        if facts is None or scope is None:
            return False
        assert isinstance(scope.node, tree.FunctionDef)
        for param in scope.node.params:
            if param.default is not None and inside.number in {node.site for node in walk([param.default])}:
                return not any(_leaves_it(run, scope, one, param.name) for one in _calls(run.program, facts, scope))
        return False
    return False


def _function_at(scopes: Iterable[Scope], site: int) -> Scope | None:
    """The function that is defined at a site; None where a class is."""
    return next((one for one in scopes if isinstance(one.node, tree.FunctionDef) and one.node.site == site), None)


def _calls(program: Program, facts: ModuleFacts, scope: Scope) -> tuple[NamedCall, ...]:
    around = scope.parent
    if scope.name == "__init__" and around is not None and isinstance(around.node, tree.ClassDef):
        return making_places(program.ev, ClassValue(around.node, program.ev.module_frame(facts)), MANY)
    return calling_places(program.ev, facts, scope, MANY)


def _leaves_it(run: EntryRun, scope: Scope, one: NamedCall, name: str) -> bool:
    """Whether a call that belongs to the program writes nothing for the parameter."""
    if one.facts.path not in run.files or any(arg.star for arg in one.call.args):
        return False
    if one.facts.path != run.entry.path and runs_as_script(own_way(one.facts, one.scope, one.call.site)):
        return False  # what a module that is imported here tries out when it is run by itself
    return written_argument(one.call, parameter_of(scope, name)) is None
