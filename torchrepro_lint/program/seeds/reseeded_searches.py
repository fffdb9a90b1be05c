"""Searches of hyperparameters that have a seed and lose it: each of several threads takes a new one from the system."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.searches import searches, threads_of_searches
from torchrepro_lint.program.evaluation.values import Arguments, Constant, ExternalObject, Value
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_left_out", "is_more_than_one", "reseeded_searches"]


def reseeded_searches(program: Program) -> Iterator[KnownCall]:
    """The calls that run a seeded search in threads, in files whose findings somebody waits for."""
    for group in asked_calls(program, _names()):
        if all(_loses_its_seed(program, call) for call in group):
            yield group[0]


@cache
def _names() -> frozenset[str]:
    return frozenset(threads_of_searches())


def _loses_its_seed(program: Program, call: KnownCall) -> bool:
    threads, func = threads_of_searches().get(call.name), call.call.func
    if threads is None or not isinstance(func, tree.Attribute):
        return False
    given, values = argument(call.arguments, threads.name, threads.position)
    if not given or not values or not all(map(is_more_than_one, values)):
        return False
    run = program.ev.values(func.value, call.frame)
    return bool(run) and all(map(_has_a_seed, run))


def is_more_than_one(value: Value) -> bool:
    """Whether a number of threads or processes is one that means several: -1 is as many as there are cores."""
    return isinstance(value, Constant) and isinstance(value.value, int) and value.value != 1


def _has_a_seed(value: Value) -> bool:
    """Whether a search is made with a seed, or with something that is."""
    row = searches().get(value.name) if isinstance(value, ExternalObject) else None
    if row is None or not isinstance(value, ExternalObject) or not isinstance(value.arguments, Arguments):
        return False
    if row.seed is not None and not is_left_out(value.arguments, row.seed):
        return True
    if row.through is None:
        return False
    _, held = argument(value.arguments, row.through.name, row.through.position)
    return bool(held) and all(map(_has_a_seed, held))


def is_left_out(arguments: Arguments, parameter: Parameter) -> bool:
    """Whether an argument is proven to be missing, or None."""
    given, values = argument(arguments, parameter.name, parameter.position)
    return not given or (bool(values) and all(isinstance(one, Constant) and one.value is None for one in values))
