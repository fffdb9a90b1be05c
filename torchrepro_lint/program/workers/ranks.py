"""Distributed programs: where they start."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.values import Arguments, Constant, External, Site
from torchrepro_lint.program.intent.intent import running_modules
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.loaders.loaders import Loader
    from torchrepro_lint.program.program import Program

__all__ = ["distributed_start", "start_of_ranks", "trains_on_one_device"]


def distributed_start(program: Program, loader: Loader) -> Site | None:
    """A place in the loader's program that makes it one of several processes; None where none is seen."""
    home = running_modules(program.ev, loader.facts, loader.scope) or frozenset((loader.facts.path,))
    return start_of_ranks(program, home, loader.facts.path)


def start_of_ranks(program: Program, home: frozenset[Path], path: Path) -> Site | None:
    """A place that makes a program one of several processes; None where none is seen. `home` are the modules that run
    something in the file `path`. What a test starts makes nothing else one of several.
    """
    above = program.runs_with(home) | program.imports.above(path)
    nothing: tuple[tuple[Site, frozenset[Path]], ...] = ()
    starts = program.ev.of_project("distributed-starts", lambda: tuple(_find_starts(program)), nothing)
    counted = (one for one in starts if program.is_test(path) or not program.is_test(one[0].path))
    return next((site for site, roots in counted if roots & above), None)


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


def trains_on_one_device(program: Program, files: frozenset[Path]) -> bool:
    """Whether each Trainer that some files make is for one device, as its arguments in the code say; there is one."""

    def find() -> bool:
        word = any_word(last_parts(known_calls("makes_a_trainer")))
        making = [path for path in program.imports.ordered(files) if program.project.holds(path, word)]
        found = [program.once(("trainers", path), partial(_trainers, program, path)) for path in making]
        return any(found) and all(all(verdicts) for verdicts in found)

    return program.once(("one device", files), find)


def _trainers(program: Program, path: Path) -> tuple[bool, ...]:
    """For each Trainer that a file makes, whether it is for one device."""
    ev = program.ev
    trainers = known_calls("makes_a_trainer")
    facts = program.facts(path)
    verdicts: list[bool] = []
    for scope in facts.walk_scopes() if facts is not None else ():
        for call, _ in scope.calls:
            if called_name(call.func) not in last_parts(trainers):
                continue
            assert facts is not None
            ev.begin_question()
            for frame in contexts(ev, facts, scope)[:1]:
                functions = ev.values(call.func, frame)
                if any(isinstance(one, External) and canonical(one.name) in trainers for one in functions):
                    verdicts.append(_is_for_one_device(ev.arguments(call.args, frame)))
    return tuple(verdicts)


def _is_for_one_device(arguments: Arguments) -> bool:
    one = frozenset((Constant(1),))
    devices = [argument(arguments, name, None) for name in ("devices", "gpus")]
    nodes_given, nodes = argument(arguments, "num_nodes", None)
    return (one in [values for _, values in devices]) and (not nodes_given or nodes == one)
