"""Draws from global generators in the processes that a program starts itself, if nothing seeds the generator there.

A process that is forked begins with a copy of its parent's state of NumPy and torch; `random` seeds itself anew after a
fork. One that is spawned begins without a seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.processes import PoolClass, ProcessStart, begins_a_fit, pool_classes, process_starts
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    Constant,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Value,
    Values,
)
from torchrepro_lint.program.loaders.worker_runs import Effect, argument, condition_holds, effects_of
from torchrepro_lint.program.programs.first_weights import brings_weights, draws_weights
from torchrepro_lint.program.programs.idle_draws import is_idle
from torchrepro_lint.program.programs.several import makes_several
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.events import Event
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.started_arguments import startable
from torchrepro_lint.program.seeds.evaluation_mode import is_switched_off
from torchrepro_lint.program.seeds.process_classes import made_processes, runs_of
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.source.package_versions import surely_in

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["ProcessDraw", "is_in_a_new_process", "process_draws"]

#: The generators in the order in which they are spoken of: those that a fork copies come first.
_COPIED: Final = ("numpy", "torch")
_RNGS: Final = (*_COPIED, "python")
#: What says that processes may begin afresh.
_FRESH: Final = re.compile(rb"""["']spawn["']|["']forkserver["']""")
_POOLS: Final = any_word(
    ("Pool", "ProcessPoolExecutor", "ProcessPool", "Process", "process_map", "num_proc", "ParallelMapper", "ray")
)
_SEEDS: Final = function_words("says_seed")


@dataclass(frozen=True, slots=True, eq=False)
class ProcessDraw:
    """A call that starts processes, and what these draw first from a generator that nothing seeds there.

    `is_copied`: the processes may be forked, and then have one state; `is_used_before`: the parent surely has one to
    copy. From NumPy 2.0 on there is none before NumPy's generator is first used.
    """

    call: KnownCall
    rng: str
    draw: Effect
    is_copied: bool
    is_used_before: bool
    is_pool: bool


def is_in_a_new_process(program: Program, chain: Sequence[Link]) -> bool:
    """Whether what a chain of calls leads to runs in a process that begins afresh, as far as the program says so: by
    `Process(target=train)` after `set_start_method("spawn")`. The seeds that its parent sets do not reach it.
    """
    starts = {last_part(name) for name in _names()}
    for link in chain:
        found = call_at(program.ev, link.site)
        if found is not None and called_name(found.call.func) in starts:
            if program.imports.any_together(found.facts.path, _FRESH):
                return True
    return False


def process_draws(program: Program) -> Sequence[ProcessDraw]:
    """One for each call of the project that starts such processes, in the order of files and text."""
    return program.once("process draws", lambda: list(_process_draws(program)))


def _process_draws(program: Program) -> Iterator[ProcessDraw]:
    if not program.project.matching(_POOLS):
        return
    groups = [*all_calls(program, _names()), *made_processes(program)]
    for group in sorted(groups, key=lambda group: (str(group[0].facts.path), group[0].call.site)):
        program.ev.begin_question()
        one = next((draw for call in group if (draw := _drawn(program, call)) is not None), None)
        if one is not None:
            yield one


@cache
def _names() -> frozenset[str]:
    return frozenset(process_starts())


def _drawn(program: Program, call: KnownCall) -> ProcessDraw | None:
    row = process_starts()[call.name]
    if any(condition_holds(condition, call.arguments) is False for condition in row.when):
        return None
    if row.not_beside is not None and program.imports.any_together(call.facts.path, row.not_beside):
        return None
    if row.alone:
        if not makes_several(program, call.facts, call.scope, call.call.site):
            return None
        first: Values = frozenset()
    else:
        pools = _pools(program, call)
        if any(_has_one_process(pool, known) for pool, known in pools):
            return None
        first = frozenset(value for pool, known in pools for value in _initializers(pool, known))
        if any(_may_seed(value) for value in first):
            return None
    events = _events(program, call, row, first)
    if events is None:
        return None
    seeded = {rng for event in events for rng in _seeded(event)}
    for rng in _RNGS:
        draw = _first_draw(program, events, rng, counts_weights=row.fresh) if rng not in seeded else None
        if draw is not None:
            is_forked = not row.fresh and not program.imports.any_together(call.facts.path, _FRESH)
            is_copied = rng in _COPIED and is_forked
            is_used_before = rng == "torch" or _is_seeded_by_the_parent(program, call, rng)
            if rng == "numpy" and not is_used_before and surely_in(program.root, "numpy", ">=2.0"):
                is_copied = False
            return ProcessDraw(call, rng, draw, is_copied, is_used_before, not row.alone and not row.fresh)
    return None


def _is_seeded_by_the_parent(program: Program, call: KnownCall, rng: str) -> bool:
    """Whether the program that starts the processes seeds the generator for itself."""
    return any(rng in one.seeds for one in program.evidence_in_programs_of(call.frame) if one.effect == "seed")


def _pools(program: Program, call: KnownCall) -> Sequence[tuple[ExternalObject, PoolClass]]:
    """What the pool can be of which a method is called."""
    func = call.call.func
    if not isinstance(func, tree.Attribute):
        return ()
    values = program.ev.values(func.value, call.frame)
    return [
        (value, known)
        for value in values
        if isinstance(value, ExternalObject) and (known := pool_classes().get(value.name)) is not None
    ]


def _has_one_process(pool: ExternalObject, known: PoolClass) -> bool:
    if pool.arguments is None:
        return False
    given, values = argument(pool.arguments, known.workers.name, known.workers.position)
    return given and bool(values) and all(isinstance(one, Constant) and one.value == 1 for one in values)


def _initializers(pool: ExternalObject, known: PoolClass) -> Values:
    if pool.arguments is None:
        return frozenset()
    return argument(pool.arguments, known.initializer.name, known.initializer.position)[1]


def _may_seed(value: Value) -> bool:
    """Whether an initializer of a pool may seed: all that is not a function of the program, or None."""
    if isinstance(value, Constant) and value.value is None:
        return False
    return not isinstance(value, (FunctionValue, MethodValue, Partial))


def _events(program: Program, call: KnownCall, row: ProcessStart, first: Values) -> Sequence[Event] | None:
    """What the processes do; None where the function is not the program's, or not all that they do is seen."""
    functions = runs_of(program, call) if row.alone else frozenset()
    if not functions:
        functions = _called(program, row, argument(call.arguments, row.function.name, row.function.position)[1])
        known = external_callable(call.name)
        functions = functions if known is None else startable(program.ev, known, functions, call.arguments)
    if not functions or not all(isinstance(one, (FunctionValue, MethodValue, Partial, Instance)) for one in functions):
        return None
    events = [*program.walker.calling(first), *program.walker.calling(functions)]
    if program.ev.exhausted or program.ev.lacks or any(_is_unseen_seeding(event) for event in events):
        return None
    return events


def _called(program: Program, row: ProcessStart, values: Values) -> Values:
    """What the processes call: of a class of the program, the methods of its objects that the row names."""
    called: set[Value] = set()
    for value in values:
        if isinstance(value, ClassValue) and row.methods:
            made = Instance(value, Arguments((), (), True, True), None)
            called.update(one for name in row.methods for one in program.ev.attribute(made, name))
        else:
            called.add(value)
    return frozenset(called)


def _is_unseen_seeding(event: Event) -> bool:
    """Whether a call that is not followed may seed, by its name."""
    return not event.name and (bool(_SEEDS.search(event.note)) or _calls_a_seed(event.call))


def _calls_a_seed(call: tree.Call | None) -> bool:
    match call:
        case tree.Call(func=tree.Name(id=name) | tree.Attribute(attr=name)):
            return bool(_SEEDS.search(name))
    return False


def _seeded(event: Event) -> frozenset[str]:
    if not event.name:
        return frozenset()
    seeding = seeding_call(event.name)
    restored = frozenset(one.rng for one in rng_effects(event.name) if one.kind in ("seed", "restore-state"))
    return restored | (seeding.seeds if seeding is not None else frozenset())


def _first_draw(program: Program, events: Sequence[Event], rng: str, *, counts_weights: bool) -> Effect | None:
    draws = [
        effect
        for event in events
        for effect in effects_of(event)
        if effect.effect.kind == "draw" and effect.effect.moment == "call" and effect.effect.rng == rng
    ]
    return next((one for one in draws if not _decides_nothing(program, one.event, counts_weights)), None)


def _decides_nothing(program: Program, event: Event, counts_weights: bool) -> bool:
    """Whether a draw is of no result, or of first weights that do not count or are replaced, or of where a fit begins
    that a library makes; or does not happen: the model that draws is in evaluation mode.
    """
    if event.name in begins_a_fit():
        return True
    if draws_weights(event) and (not counts_weights or brings_weights(event)):
        return True
    return is_idle(program.ev, event) or is_switched_off(program, event)
