"""Distributed programs: where they start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.program.switches.intent import running_modules
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.workers.loaders import Loader

__all__ = ["distributed_start", "start_of_ranks"]


def distributed_start(program: Program, loader: Loader) -> Site | None:
    """A place in the loader's program that makes it one of several processes; None where none is seen."""
    home = running_modules(program.ev, loader.facts, loader.scope) or frozenset((loader.facts.path,))
    return start_of_ranks(program, home, loader.facts.path)


def start_of_ranks(program: Program, home: frozenset[Path], path: Path) -> Site | None:
    """A place that makes a program one of several processes; None where none is seen. `home` are the modules that run
    something in the file `path`.
    """
    above = program.runs_with(home) | program.imports.above(path)
    nothing: tuple[tuple[Site, frozenset[Path]], ...] = ()
    starts = program.ev.of_project("distributed-starts", lambda: tuple(_find_starts(program)), nothing)
    return next((site for site, roots in starts if roots & above), None)


def _find_starts(program: Program) -> Iterator[tuple[Site, frozenset[Path]]]:
    ev = program.ev
    starts = known_calls("starts_ranks")
    words = last_parts(starts)
    for path in program.project.matching(any_word(words)):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for call, arms in scope.calls:
                if called_name(call.func) not in words:
                    continue
                ev.begin_question()
                for frame in contexts(ev, facts, scope)[:1]:
                    functions = ev.values(call.func, frame)
                    is_start = any(isinstance(one, External) and canonical(one.name) in starts for one in functions)
                    if is_start and ev.may_run(call.site, arms, frame):
                        yield ev.site(call, frame), running_modules(ev, facts, scope)
