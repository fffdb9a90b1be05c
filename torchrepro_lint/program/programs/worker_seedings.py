"""Seeding calls that only the workers of loaders run: they say nothing of the program around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.worker_names import is_for_workers
from torchrepro_lint.program.worker_seeds.worker_init import project_function

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["is_for_workers_alone", "runs_in_workers_alone"]


def is_for_workers_alone(program: Program, one: Evidence) -> bool:
    """Whether only worker init functions run a seeding call: each way to it leads through one. A helper that the
    program calls as well seeds both.
    """
    return all(
        any(runs_in_workers_alone(program, waypoint.facts, waypoint.scope) for waypoint in way)
        for way in ways_of(program, one)
    )


def runs_in_workers_alone(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a function is a worker init function: by its name, or because a loader has it as `worker_init_fn` and
    nothing calls it.
    """
    if isinstance(scope.node, tree.FunctionDef) and is_for_workers(scope.node):
        return True
    none: frozenset[int] = frozenset()
    functions = program.ev.remembered(("init-functions",), lambda: _init_functions(program), none)
    return id(scope.node) in functions and not calling_places(program.ev, facts, scope)


def _init_functions(program: Program) -> frozenset[int]:
    given = (value for loader in program.loaders for value in loader.value("worker_init_fn"))
    functions = (project_function(program.ev, value) for value in given)
    return frozenset(id(function.node) for function in functions if function is not None)
