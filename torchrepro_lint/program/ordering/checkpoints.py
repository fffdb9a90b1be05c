"""Checkpoints that a program saves to resume from: what is in them, and what is not."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import DictValue, ExternalObject, Values
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ordering.loaded_checkpoints import Reader, readers
from torchrepro_lint.program.programs.frameworks import uses_a_framework
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls, asked_calls
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Resumed", "checkpoints_without_rng", "resumed_checkpoints"]

_OPTIMIZER: Final = function_words("optimizer_keys")
#: The same, or options: what is saved under it tells.
_SHORT_OPTIMIZER: Final = function_words("short_optimizer_keys")
_OPTIMIZER_STATE: Final = re.compile(r"torch\.optim\.\w+\.state_dict")
_PROGRESS: Final = function_words("progress_keys")
_RNG: Final = function_words("rng_keys")
_RNG_STATE: Final = re.compile(
    rb"get_rng_state|getstate\(|random\.get_state\(|rng_state|random_state_dict|StatefulDataLoader|save_state\("
)
_LOADS_OPTIMIZER: Final = re.compile(
    rb"^[^#\n]*(?:(?:optim\w*|\bopt)(?:\[[^]]*\])?\.load_state_dict\(|\.load_state_dict\([^)\n]*[\"']opt)",
    re.IGNORECASE | re.MULTILINE,
)
#: What is in one of these may not run, or may fail without harm.
_MAY_NOT_RUN: Final = (tree.If, tree.Conditional, tree.For, tree.While, tree.Match, tree.Try, tree.Boolean, tree.Delete)


@dataclass(frozen=True, slots=True, eq=False)
class Resumed:
    """A checkpoint with the optimizer and the epoch in it, the call that saves it, and one that loads it."""

    save: KnownCall
    load: KnownCall


def checkpoints_without_rng(program: Program) -> Iterator[Resumed]:
    """The checkpoints that are saved and resumed without the state of a random number generator.

    One that is saved under several names comes once, where it is saved first.
    """
    return resumed_checkpoints(program, _RNG, _RNG_STATE)


def resumed_checkpoints(
    program: Program, key: re.Pattern[str], state: re.Pattern[bytes], made: frozenset[str] = frozenset()
) -> Iterator[Resumed]:
    """The checkpoints with an optimizer that are saved and resumed, without a key that `key` finds and the state of
    what one of the calls `made` makes, in programs whose texts have nothing that `state` finds. What is loaded may be
    what is saved: all keys that the resuming surely reads are in it.
    """
    states = frozenset(f"{name}.state_dict" for name in made)
    seen: set[Hashable] = set()
    for group in asked_calls(program, known_calls("saves_checkpoint")):
        save = next((call for call in group if _for_resuming(call, key, states) is not None), None)
        if save is None or program.is_test(save.facts.path) or (shown := _made(save)) in seen:
            continue
        seen.add(shown)
        related = sorted(program.imports.together(save.facts.path))
        if any(program.project.holds(path, state) for path in related) or uses_a_framework(program, related):
            continue
        if not any(program.project.holds(path, _LOADS_OPTIMIZER) for path in related):
            continue
        load = program.once(("resuming", tuple(related)), partial(_resuming, program, related))
        if load is not None and not _reads_others(program, load, _for_resuming(save, key, states)):
            yield Resumed(save, load)


def _made(save: KnownCall) -> Hashable:
    """What tells a checkpoint from others: where the name that is saved is bound, else the call itself."""
    written = next((arg.value for arg in save.call.args if arg.keyword in (None, "obj") and not arg.star), None)
    if isinstance(written, tree.Name):
        bindings, _ = save.scope.reaching(written.id, save.call.site)
        if bindings:
            return tuple(id(binding.node) for binding in bindings)
    return id(save.call)


def _for_resuming(save: KnownCall, left_out: re.Pattern[str], states: frozenset[str]) -> DictValue | None:
    """What is saved with an optimizer and a count of epochs or steps, and with nothing under a key that `left_out`
    finds or that is one of the `states`.
    """
    _, values = argument(save.arguments, "obj", 0)
    for value in values:
        if isinstance(value, DictValue):
            keys = [key for key, _, _ in value.entries if isinstance(key, str)]
            held = {one.name for _, values, _ in value.entries for one in values if isinstance(one, ExternalObject)}
            if any(map(left_out.search, keys)) or not held.isdisjoint(states):
                return None
            if any(map(_PROGRESS.search, keys)) and any(_is_optimizer(key, held) for key, held, _ in value.entries):
                return value
    return None


def _reads_others(program: Program, load: KnownCall, saved: DictValue | None) -> bool:
    """Whether a key is surely read of what is loaded, by the name that it gets there, that is not in what is saved: the
    run would end with a KeyError.
    """
    if saved is None or saved.open:
        return False
    parents = parents_of(program.ev, load.facts)
    target = parents.target_of(load.call)
    if not isinstance(target, tree.Name):
        return False
    function = parents.function(load.call)
    uses = [use for use in parents.names_in(target.id, function) if use is not target]
    items = [item for use in uses if isinstance(item := parents.of(use), tree.Subscript) and item.value is use]
    given = {item.index.value for item in items if isinstance(item.index, tree.Const) and parents.is_bound(item)}
    known = {*given, *(key for key, _, _ in saved.entries)}
    around = set(map(id, parents.around(load.call)))
    return len(uses) == len([use for use in parents.reads_in(target.id, function) if use is not target]) and any(
        isinstance(item.index, tree.Const)
        and isinstance(item.index.value, str)
        and item.index.value not in known
        and parents.function(item) is function
        and all(id(above) in around for above in parents.around(item) if isinstance(above, _MAY_NOT_RUN))
        for item in items
    )


def _is_optimizer(key: object, values: Values) -> bool:
    """Whether the state of an optimizer is saved under a key, by its name or by what it is."""
    if not isinstance(key, str):
        return False
    return _OPTIMIZER.search(key) is not None or (
        _SHORT_OPTIMIZER.search(key) is not None
        and any(isinstance(value, ExternalObject) and _OPTIMIZER_STATE.fullmatch(value.name) for value in values)
    )


def _names_optimizer(text: str) -> bool:
    return _OPTIMIZER.search(text) is not None or _SHORT_OPTIMIZER.search(text) is not None


def _resuming(program: Program, related: list[Path]) -> KnownCall | None:
    """The load in some files after which the state of an optimizer is soonest taken out; else one near a count of
    epochs or steps.
    """
    calls = (group[0] for group in all_calls(program, known_calls("loads_checkpoint")))
    loads = [one for one in calls if one.facts.path in related and not _takes_weights_only(program, one)]
    after = [
        (distance, load)
        for load in loads
        if (distance := program.once(("to optimizer", load.site), partial(_to_optimizer, program, load))) is not None
    ]
    if after:
        return min(after, key=lambda pair: pair[0])[1]
    return next((load for here in (True, False) for load in loads if _reads_progress(program, load, here=here)), None)


def _takes_weights_only(program: Program, load: KnownCall) -> bool:
    """Whether all that is read of what is loaded are items, none of an optimizer or a count: a pretrained model."""
    parents = parents_of(program.ev, load.facts)
    target = parents.target_of(load.call)
    if not isinstance(target, tree.Name):
        return False
    function = parents.function(load.call)
    uses = [parents.of(use) for use in parents.names_in(target.id, function) if use is not target]
    return bool(uses) and all(
        isinstance(item, tree.Subscript)
        and isinstance(item.index, tree.Const)
        and isinstance(item.index.value, str)
        and not _names_optimizer(item.index.value)
        and not _PROGRESS.search(item.index.value)
        for item in uses
    )


def _to_optimizer(program: Program, load: KnownCall) -> tuple[int, int] | None:
    """How many calls lie between the load and the function in which the optimizer's state is named as a key, and how
    far down that is.
    """
    below = (
        (reader.steps, node.site - reader.start)
        for reader in readers(program, load)
        for name, node in _keys_in(program, reader)
        if node.site > reader.start and _names_optimizer(name)
    )
    return min(below, default=None)


def _reads_progress(program: Program, load: KnownCall, *, here: bool) -> bool:
    """Whether a function that has a checkpoint, or only the file that loads it, takes the epoch or step out of it."""
    if here:
        return any(_PROGRESS.search(name) for reader in readers(program, load) for name, _ in _keys_in(program, reader))
    return any(_PROGRESS.search(name) for name, _ in parents_of(program.ev, load.facts).texts)


def _keys_in(program: Program, reader: Reader) -> Sequence[tuple[str, tree.Subscript]]:
    """The texts by which the function of a reader looks something up."""
    nothing: dict[int, list[tuple[str, tree.Subscript]]] = {}
    by_function = program.ev.remembered(
        ("keys-by-function", id(reader.facts)), lambda: _keys_by_function(program, reader.facts), nothing
    )
    return by_function.get(id(reader.function), ())


def _keys_by_function(program: Program, facts: ModuleFacts) -> dict[int, list[tuple[str, tree.Subscript]]]:
    parents = parents_of(program.ev, facts)
    found: dict[int, list[tuple[str, tree.Subscript]]] = {}
    for name, node in parents.texts:
        found.setdefault(id(parents.function(node)), []).append((name, node))
    return found
