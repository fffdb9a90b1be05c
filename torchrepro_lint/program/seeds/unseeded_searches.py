"""Searches of hyperparameters without a seed: the seeds of a program do not reach them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.searches import Search, searches
from torchrepro_lint.program.loaders.worker_runs import condition_holds
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.fallbacks import handled_by, tried_in
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.seeds.reseeded_searches import is_left_out, is_more_than_one
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededSearch", "draws_afresh_in_threads", "unseeded_searches"]

#: What gives a study a sampler, or its sampler a seed, after it was created.
_SET_LATER = re.compile(rb"\.sampler\s*=[^=]|reseed_rng|\._rng\b")


@dataclass(frozen=True, slots=True, eq=False)
class UnseededSearch:
    """A call that makes or runs a search."""

    call: KnownCall
    row: Search


def unseeded_searches(program: Program) -> Iterator[UnseededSearch]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    found: list[UnseededSearch] = []
    for group in asked_calls(program, _names()):
        row = searches()[group[0].name]
        unseeded = next((call for call in group if call.name == group[0].name and _is_unseeded(call, row)), None)
        if unseeded is None or len({call.name for call in group}) > 1 or _is_for_nothing(program, unseeded):
            continue
        if program.project.holds(unseeded.facts.path, _SET_LATER) or _is_seeded_elsewhere(program, row):
            continue
        if _is_shared(unseeded) or _is_for_when_another_fails(program, unseeded, row):
            continue
        found.append(UnseededSearch(unseeded, row))
    yield from sorted(found, key=lambda one: (str(one.call.facts.path), one.call.call.site))


@cache
def _names() -> frozenset[str]:
    return frozenset(searches())


def _is_unseeded(call: KnownCall, row: Search) -> bool:
    if not all(condition_holds(one, call.arguments) for one in row.when):
        return False
    return all(is_left_out(call.arguments, one) for one in (row.seed, row.through) if one is not None)


def _is_shared(call: KnownCall) -> bool:
    """Whether a study is kept in a storage, which other processes or a later run may continue with. It is the study
    that is made, or the one for which a sampler is made in the same scope.
    """
    row = searches()[call.name]
    if row.shared is not None:
        return not is_left_out(call.arguments, row.shared)
    return any(
        called_name(other.func) == "create_study" and any(arg.keyword == "storage" for arg in other.args)
        for other, _ in call.scope.calls
    )


def _is_for_nothing(program: Program, call: KnownCall) -> bool:
    """Whether what is made is dropped, or gets a name that nothing reads: `fmin` runs the search itself."""
    if call.name.endswith(".fmin"):
        return False
    parents = parents_of(program.ev, call.facts)
    if isinstance(parents.of(call.call), tree.ExprStmt):
        return True
    target = parents.target_of(call.call)
    if not isinstance(target, tree.Name) or target.id in call.scope.declared:
        return False
    function = parents.function(call.call)
    if function is None and program.imports.is_imported(call.facts.path):
        return False
    return not parents.reads_in(target.id, function)


def _is_for_when_another_fails(program: Program, call: KnownCall, row: Search) -> bool:
    """Whether a search is made in a handler of a `try` that makes one with a seed, which is what mostly runs."""
    parents = parents_of(program.ev, call.facts)
    given = {one.name for one in (row.seed, row.through) if one is not None}
    for around in handled_by(parents, call.call):
        for other, _ in call.scope.calls:
            if called_name(other.func) == called_name(call.call.func) and around in tried_in(parents, other):
                if not given.isdisjoint(arg.keyword for arg in other.args):
                    return True
    return False


def _is_seeded_elsewhere(program: Program, row: Search) -> bool:
    """Whether the project names the variable of the environment from which a library takes the seed."""
    return bool(row.elsewhere) and bool(program.project.matching(any_word((row.elsewhere,))))


def draws_afresh_in_threads(program: Program, one: UnseededSearch) -> bool:
    """Whether the file runs a study of Optuna in several threads, where `optimize` reseeds the sampler in each of them
    (`reseed_rng` in optuna/study/_optimize.py, 4.5): a seed of the sampler is lost there.
    """
    if not one.call.name.startswith("optuna."):
        return False
    return any(
        is_more_than_one(value)
        for scope in one.call.facts.walk_scopes()
        for call, _ in scope.calls
        if called_name(call.func) == "optimize"
        for arg in call.args
        if arg.keyword == "n_jobs"
        for frame in contexts(program.ev, one.call.facts, scope)
        for value in program.ev.values(arg.value, frame)
    )
