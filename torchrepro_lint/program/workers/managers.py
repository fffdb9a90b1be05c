"""Loaders whose workers, or whose order, a framework takes care of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.loaders import Manager, manager_names, managers
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import External, MemberOf, Site
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.program.running.training_hooks import is_made_out_of_sight
from torchrepro_lint.program.switches.intent import running_modules
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.program.workers.loaders import Loader
from torchrepro_lint.program.workers.workers import condition_holds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["managing", "may_seed_its_dataset", "seeds_its_workers", "sets_order_of"]


def seeds_its_workers(loader: Loader) -> bool:
    """Whether the loader's own class seeds NumPy in each worker, as far as its arguments prove."""
    known = loader.known
    if known.worker_seeding != "numpy":
        return False
    return all(condition_holds(condition, loader.arguments) for condition in known.seeding_when)


def may_seed_its_dataset(loader: Loader) -> bool:
    """Whether the loader's own class seeds the random objects of the dataset in each worker, unless its arguments prove
    that it does not: such as a worker init function in place of its own.
    """
    known = loader.known
    if known.worker_seeding != "dataset":
        return False
    return not any(condition_holds(condition, loader.arguments) is False for condition in known.seeding_when)


def managing(program: Program, loader: Loader) -> Iterator[tuple[Manager, Site]]:
    """The frameworks in the loader's program that take care of loaders which they are given; in any program, where a
    framework calls the method and nothing in sight makes its object.
    """
    above = _programs(program, loader.facts, loader.scope)
    for manager, site, roots in _manager_calls(program):
        if manager.reaches != "own" and (roots & above or is_made_out_of_sight(program.ev, loader.facts, loader.scope)):
            yield manager, site


def sets_order_of(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a framework in the programs that run a scope gives the samplers which it is handed a generator."""
    above = _programs(program, facts, scope)
    return any(manager.order and roots & above for manager, _, roots in _manager_calls(program))


def _programs(program: Program, facts: ModuleFacts, scope: Scope) -> frozenset[Path]:
    """The modules whose run reaches the scope."""
    return program.runs_with(running_modules(program.ev, facts, scope) or frozenset((facts.path,)))


def _manager_calls(program: Program) -> tuple[tuple[Manager, Site, frozenset[Path]], ...]:
    return program.ev.of_project("manager-calls", lambda: tuple(_find_calls(program)), ())


def _find_calls(program: Program) -> Iterator[tuple[Manager, Site, frozenset[Path]]]:
    ev = program.ev
    names = manager_names()
    for path in program.project.matching(any_word(names)):
        facts = program.facts(path) if program.project.may_call_any(path, names) else None
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for call, arms in scope.calls:
                if called_name(call.func) not in names:
                    continue
                ev.begin_question()
                for frame in contexts(ev, facts, scope)[:2]:
                    if not ev.may_run(call.site, arms, frame):
                        continue
                    arguments = ev.arguments(call.args, frame)
                    for name in _called(program, call, frame):
                        for manager in managers(name):
                            if all(condition_holds(c, arguments) for c in manager.when):
                                yield manager, ev.site(call, frame), running_modules(ev, facts, scope)


def _called(program: Program, call: tree.Call, frame: Frame) -> Iterator[str]:
    for value in ordered(program.ev.values(call.func, frame)):
        if isinstance(value, External):
            yield value.name
        elif isinstance(value, MemberOf):
            name = member_name(value)
            if name is not None:
                yield name
