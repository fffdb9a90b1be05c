"""Checkpoints that are resumed without the state of something that the training moves on beside the optimizer: a
learning rate scheduler, a gradient scaler, a moving average, a stateful loader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import words_in
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.stepped_states import SteppedState, stepped_states
from torchrepro_lint.program.evaluation.classes import mro
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, Site, Value
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ordering.checkpoints import Resumed, resumed_checkpoints
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import Way, meet, never_together, ways

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Incomplete", "incomplete_checkpoints"]

#: What a loop is over that brings a scheduler to where the training was.
_UP_TO_HERE: Final = function_words("up_to_here")


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """A checkpoint that is saved and resumed, and each kind of state that is not in it, with the place where the same
    run moves it on.
    """

    save: Site
    load: Site
    missing: tuple[tuple[SteppedState, Site], ...]


def incomplete_checkpoints(program: Program) -> Iterator[Incomplete]:
    """All of them, in the order of files and text."""
    found: dict[Site, Incomplete] = {}
    for kind in stepped_states():
        for one in resumed_checkpoints(program, kind.key, kind.state, kind.made):
            moved = _moved_by(program, one, kind)
            if moved is not None and _meet(program, one.save, one.load):
                before = found.get(one.save.site)
                missing = (*(before.missing if before is not None else ()), (kind, moved))
                found[one.save.site] = Incomplete(one.save.site, one.load.site, missing)
    told: set[tuple[Site, ...]] = set()
    for site in program.asked_in_order(found):
        moved_on = tuple(place for _, place in found[site].missing)
        if moved_on not in told:  # the last and the best checkpoint lack the same
            told.add(moved_on)
            yield found[site]


def _moved_by(program: Program, resumed: Resumed, kind: SteppedState) -> Site | None:
    """Where a run that saves a checkpoint moves on an object of a kind, that it does not make anew from the epoch, and
    that may resume as well: a command may save what another one resumes.
    """
    groups = list(all_calls(program, kind.steps or kind.made))
    meeting = [
        group
        for group in groups
        if not program.is_test(group[0].facts.path)
        and _are_of_one_run(program, resumed.save, group[0])
        and _meet(program, resumed.load, group[0]) is not False
    ]
    if any(_says_the_epoch(program, group, kind) for group in meeting):
        return None
    return next((group[0].site for group in meeting if not all(_does_nothing(program, one) for one in group)), None)


def _ways(program: Program, one: KnownCall) -> tuple[Way, ...]:
    return program.ev.remembered(
        ("ways to", one.site), lambda: ways(program.ev, one.facts, one.scope, one.call.site), ()
    )


def _are_of_one_run(program: Program, one: KnownCall, other: KnownCall) -> bool:
    """Whether one run may execute two places: what calls both does not do so in two arms of one `if`; or, where nothing
    in sight calls both, they are in methods of one class, or of a class and its base.
    """
    met = _meet(program, one, other)
    if met is not None:
        return met
    cls, of_other = (class_of_method(program.ev, each.facts, each.scope) for each in (one, other))
    return (
        cls is not None
        and of_other is not None
        and (cls in mro(program.ev, of_other) or of_other in mro(program.ev, cls))
    )


def _meet(program: Program, one: KnownCall, other: KnownCall) -> bool | None:
    """Whether what calls two places may execute both in one run; None where nothing in sight calls both."""
    first, second = _ways(program, one), _ways(program, other)
    return not never_together(first, second) if meet(first, second) else None


def _says_the_epoch(program: Program, group: list[KnownCall], kind: SteppedState) -> bool:
    """Whether a scheduler is told the epoch, or is brought to it by a loop of its own."""
    if kind.kind != "scheduler":
        return False
    one = group[0]
    if one.call.args:
        return True
    loops = parents_of(program.ev, one.facts).loops
    loop = next((loops[branch] for branch, _ in reversed(one.arms) if branch in loops), None)
    if not isinstance(loop, tree.For) or len(loop.body) != 1:
        return False
    return any(map(_UP_TO_HERE.search, words_in([loop.iter]))) or _repeats(loop, one.call)


def _repeats(loop: tree.For, call: tree.Call) -> bool:
    """Whether a loop makes a call again and again, and not of each of several objects, and does nothing else."""
    match loop:
        case tree.For(target=tree.Name(id=name), body=(tree.ExprStmt(value=only),)):
            return only is call and name not in words_in([call.func])
    return False


def _does_nothing(program: Program, one: KnownCall) -> bool:
    """Whether what is moved on is a gradient scaler that is turned off for good."""
    if not isinstance(one.call.func, tree.Attribute):
        return False
    made = program.ev.values(one.call.func.value, one.frame)
    return bool(made) and all(map(_is_off, made))


def _is_off(made: Value) -> bool:
    if not isinstance(made, ExternalObject) or made.arguments is None:
        return False
    _, given = argument(made.arguments, "enabled", None)
    return bool(given) and all(isinstance(one, Constant) and one.value is False for one in given)
