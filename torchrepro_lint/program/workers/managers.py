"""Loaders whose workers, or whose order, a framework takes care of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Condition
from torchrepro_lint.knowledge.loaders import Manager, manager_names, managers
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.command_line import defaults_of, is_parsed
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    Constant,
    External,
    ExternalObject,
    MemberOf,
    Site,
    Value,
)
from torchrepro_lint.program.intent.intent import running_modules
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import argument, condition_holds
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.program.running.training_hooks import is_made_out_of_sight
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["managing", "may_manage_order", "may_seed_its_dataset", "seeds_its_workers", "sets_order_of"]


#: Calls of frameworks, each with its place and the modules whose run comes to it.
_Calls: TypeAlias = "Iterator[tuple[Manager, Site, frozenset[Path]]]"
#: The argument by which the user of a framework chooses whether there is one process or several.
_CHOOSES: Final = "strategy"


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
    yield from _managing(program, loader, _calls(program))


def may_manage_order(program: Program, loader: Loader) -> bool:
    """Whether a framework in the loader's program gives the sampler a seed for some of the values that an argument of
    it may have: a strategy that comes from outside, unless the default of its option is none of them.
    """
    return any(_managing(program, loader, _calls(program, surely=False)))


def _managing(program: Program, loader: Loader, calls: _Calls) -> Iterator[tuple[Manager, Site]]:
    above = _programs(program, loader.facts, loader.scope)
    for manager, site, roots in calls:
        if manager.reaches != "own" and (roots & above or is_made_out_of_sight(program.ev, loader.facts, loader.scope)):
            yield manager, site


def sets_order_of(program: Program, facts: ModuleFacts, scope: Scope, *, in_each_release: bool = False) -> bool:
    """Whether a framework in the programs that run a scope gives the samplers which it is handed a generator;
    `in_each_release`: and does so however many processes there are.
    """
    above = _programs(program, facts, scope)
    return any(
        manager.order and roots & above and not (in_each_release and manager.order_varies)
        for manager, _, roots in _calls(program)
    )


def _programs(program: Program, facts: ModuleFacts, scope: Scope) -> frozenset[Path]:
    """The modules whose run reaches the scope."""
    return program.runs_with(running_modules(program.ev, facts, scope) or frozenset((facts.path,)))


def _calls(program: Program, *, surely: bool = True) -> _Calls:
    """The calls of frameworks that surely take care of loaders, or those that do for some arguments."""
    every: tuple[tuple[Manager, Site, frozenset[Path], bool], ...]
    every = program.ev.of_project("manager-calls", lambda: tuple(_find_calls(program)), ())
    return ((manager, site, roots) for manager, site, roots, is_sure in every if is_sure is surely)


def _find_calls(program: Program) -> Iterator[tuple[Manager, Site, frozenset[Path], bool]]:
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
                    known = [manager for name in _called(program, call, frame) for manager in managers(name)]
                    arguments = ev.arguments(call.args, frame) if known else Arguments()
                    for manager in known:
                        verdicts = [condition_holds(c, arguments) for c in manager.when]
                        is_open = False not in verdicts and _is_chosen_outside(ev, manager, arguments)
                        if all(verdicts) or is_open:
                            roots = running_modules(ev, facts, scope)
                            yield manager, ev.site(call, frame), roots, all(verdicts)


def _is_chosen_outside(ev: Evaluator, manager: Manager, arguments: Arguments) -> bool:
    """Whether a call is given the argument that decides over the order, and what that is comes from outside."""
    if not manager.order or not any(name == _CHOOSES for name, _, _ in arguments.keywords):
        return False
    condition = next((one for one in manager.when if one.parameter == _CHOOSES), None)
    if condition is None or condition_holds(condition, arguments) is not None:
        return False
    _, values = argument(arguments, condition.parameter, condition.position)
    return not all(_is_another_by_default(ev, condition, value) for value in values)


def _is_another_by_default(ev: Evaluator, condition: Condition, value: Value) -> bool:
    """Whether a value does not fulfil a condition, or is an option whose default does not."""
    match value:
        case Constant(value=said):
            return condition.holds(True, said) is False
        case MemberOf(receiver=ExternalObject() as parsed, attr=name) if is_parsed(parsed):
            defaults = [ev.values(*default) for default in defaults_of(ev, parsed, name)]
            return bool(defaults) and all(
                isinstance(one, Constant) and condition.holds(True, one.value) is False
                for default in defaults
                for one in default
            )
    return False


def _called(program: Program, call: tree.Call, frame: Frame) -> Iterator[str]:
    for value in ordered(program.ev.values(call.func, frame)):
        if isinstance(value, External):
            yield value.name
        elif isinstance(value, MemberOf):
            name = member_name(value)
            if name is not None:
                yield name
