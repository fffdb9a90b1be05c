"""How often a place runs: once in a run of the program, or again and again within one and the same training.

What repeats a place is a loop around it or around a call on one of the ways to it, a framework that calls its function
in each epoch, step or reload, and a second call of a training that goes on with the same model. A loop does not repeat
a training where each turn is a whole run: it seeds torch anew, or makes the model that it trains.

Once is proven: where callers may be missing, the answer is that it is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.training_hooks import asks_again
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import UNKNOWN, MemberOf, Site
from torchrepro_lint.program.programs.turns import (
    Turns,
    goes_on_training,
    is_of_one_turn,
    trains_in_turn,
    turns_of,
)
from torchrepro_lint.program.running.call_index import calls_in
from torchrepro_lint.program.running.callers import (
    BASES_THAT_CALL_NOTHING,
    frame_without_callers,
    is_called_unseen,
)
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.epochs import (
    is_endless,
    is_epoch_loop,
    is_range,
    runs_for_one,
    says_epochs,
    says_evaluation,
    steps_what_it_is_given,
    takes_steps,
)
from torchrepro_lint.program.running.guards import Place
from torchrepro_lint.program.running.made_once import comes_after_kept, keeps_its_result
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.properties import reads_of_property
from torchrepro_lint.program.running.put_away import is_kept
from torchrepro_lint.program.running.started_uses import started_uses
from torchrepro_lint.program.running.training_hooks import is_named_by_a_configuration, is_training_hook
from torchrepro_lint.program.running.way_frames import may_have_further_calls
from torchrepro_lint.program.running.ways import (
    MAX_WAYS,
    Way,
    Waypoint,
    calls_itself,
    given_to_both,
    never_together,
    own_way,
    ways,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "Frequency",
    "Often",
    "Repetition",
    "Settled",
    "frequency",
    "going_on",
    "is_for_evaluation_alone",
    "repetitions_on",
    "runs_per_item",
    "training_around",
    "trains_in",
    "turns_of_its_own",
]


class Often(Enum):
    """How often a place runs in one training.

    `ONCE` is proven: at most once for each way that leads to it. `AGAIN`: something that can be shown repeats it.
    `UNKNOWN`: what calls it is not all known.
    """

    ONCE = "once"
    AGAIN = "again"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Repetition:
    """What repeats a place: `way[index]` is in the body of `loop`, or in a function that a framework calls (None).

    It is not `sure` where each turn may be a run of its own. With `seeded` each turn seeds torch with another number.
    """

    way: Way
    index: int
    loop: tree.For | tree.While | None
    sure: bool = True
    seeded: bool = False

    @property
    def site(self) -> Site:
        """The loop, or the function that is called by the framework."""
        waypoint = self.way[self.index]
        node = self.loop if self.loop is not None else waypoint.scope.node
        return Site(waypoint.facts.path, node.site if node is not None else 0)


class Settled(Enum):
    """What ends the repetitions on a way: nothing further out repeats the place within one training."""

    KEPT = "what is made there is kept, and made when it is first needed"
    A_RUN = "each turn of the next loop is a run of its own"


@dataclass(frozen=True, slots=True)
class Frequency:
    """How often a place runs; `reason` says in words why it is not once, for a message about it."""

    often: Often
    reason: str = ""


_ONCE: Final = Frequency(Often.ONCE)


def frequency(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> Frequency:
    """How often a place runs in one training."""
    unknown = Frequency(Often.UNKNOWN, "it is not known what calls it")
    key = ("frequency", facts.path, id(scope), site)
    return program.ev.remembered(key, lambda: _frequency(program, facts, scope, site), unknown)


def _frequency(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> Frequency:
    ev = program.ev
    leading = [way for way in ways(ev, facts, scope, site) if not _is_of_a_test(program, way)]
    answer = _ONCE
    for way in leading:
        is_settled = False
        for repetition in repetitions_on(program, way):
            if isinstance(repetition, Settled) or repetition.seeded:
                is_settled = True
                break
            often = Often.AGAIN if repetition.sure else Often.UNKNOWN
            return Frequency(often, _words(repetition))
        if not is_settled and answer is _ONCE:
            answer = _of_the_end(program, way)
            if answer.often is Often.AGAIN:
                return answer
    own = next((one.scope for way in leading for one in way if calls_itself(program.ev, one)), None)
    if own is not None and answer is _ONCE:
        return Frequency(Often.UNKNOWN, f"{_called(own)} calls itself")
    if len(leading) > MAX_WAYS or any(may_have_further_calls(ev, way) for way in leading):
        return Frequency(Often.UNKNOWN, f"not every call of {_called(scope)} is known")
    return _called_again(program, leading) if answer is _ONCE else answer


def _is_of_a_test(program: Program, way: Way) -> bool:
    """Whether a test runs what is not in one."""
    return program.is_test(way[-1].facts.path) and not program.is_test(way[0].facts.path)


def _called(scope: Scope) -> str:
    """A function as a person knows it: a constructor by its class, another special method with its class."""
    if not isinstance(scope.node, tree.FunctionDef):
        return "this code"
    if scope.parent is not None and isinstance(scope.parent.node, tree.ClassDef) and is_called_unseen(scope.name):
        return f"`{scope.parent.name}`" if scope.name == "__init__" else f"`{scope.parent.name}.{scope.name}`"
    return f"`{scope.name}`"


def repetitions_on(program: Program, way: Way, *, makes: bool = True) -> Iterator[Repetition | Settled]:
    """What repeats a place on one way to it, from the inside out, up to what settles that nothing further out does.
    With `makes` the place makes something, which a loop may put away beside what its other turns make.

    The innermost loop over copies of one model repeats nothing; what is around it may go on with that model.
    """
    ev = program.ev
    copied = False
    for index, waypoint in enumerate(way):
        if index and keeps_its_result(way[index - 1].scope):
            yield Settled.KEPT
            return
        loops = parents_of(ev, waypoint.facts).loops
        for branch, arm in reversed(waypoint.path):
            if runs_for_one(waypoint.scope, branch, arm):
                yield Settled.KEPT
                return
            loop = loops.get(branch)
            if loop is None or arm != "body" or is_of_one_turn(waypoint, loop):
                continue
            if makes and _is_of_its_own(program, way, index, loop):
                continue
            turns = turns_of(program, way, index, loop)
            if turns is Turns.RUNS:
                yield Settled.A_RUN
                return
            if turns is Turns.COPIES and not copied:
                copied = True
                continue
            yield Repetition(way, index, loop, turns is Turns.PARTS, turns is Turns.SEEDED_PARTS)
        if comes_after_kept(waypoint.scope, waypoint.site):
            yield Settled.KEPT
            return
        if is_training_hook(ev, waypoint.facts, waypoint.scope):
            yield Repetition(way, index, None)


def going_on(program: Program, way: Way) -> Repetition | None:
    """The innermost repetition on a way that is surely a part of one training, on the same data; None where there is
    none, or where the place belongs to an evaluation.
    """
    for found in repetitions_on(program, way):
        if isinstance(found, Settled) or is_for_evaluation_alone(found):
            return None
        if trains_in(program, found) or (found.sure and found.loop is not None and is_endless(found.loop)):
            return found
    return None


def training_around(program: Program, way: Way) -> Repetition | None:
    """The innermost repetition of a place that surely counts the epochs, or takes the steps, of one training."""
    for found in repetitions_on(program, way, makes=False):
        if isinstance(found, Settled):
            return None
        if trains_in(program, found):
            return found
    return None


def trains_in(program: Program, found: Repetition) -> bool:
    """Whether a repetition is surely one of the epochs or steps of a training: it says so, a framework calls it so, it
    takes steps itself, or it counts, and calls what takes them.
    """
    waypoint, loop = found.way[found.index], found.loop
    if loop is None or is_epoch_loop(loop, waypoint.scope):
        return True
    if (found.sure or found.seeded) and takes_steps(waypoint.scope, loop.site):
        return True
    if not found.sure:
        return False
    counts = isinstance(loop, tree.While) or is_range(waypoint.scope.behind(loop.iter))
    return counts and trains_in_turn(program, found.way, found.index, loop) is True


def runs_per_item(places: Sequence[Place]) -> bool:
    """Whether a place in the code that fetches the items of a dataset runs for each of them: `places` are the calls on
    the way to it, from the method that is asked for items inwards, and the place itself.

    What a function keeps it makes once; what is before the loop of a stream runs once for each worker and epoch.
    """
    for index, place in enumerate(places):
        if keeps_its_result(place.scope) or comes_after_kept(place.scope, place.site.number):
            return False
        if index == 0 and place.scope.name == "__iter__" and not place.in_loop:
            return False
    return True


def is_for_evaluation_alone(found: Repetition) -> bool:
    """Whether a repetition comes through an evaluation, which is meant to be the same in every epoch."""
    inner = found.way[: found.index]
    return any(says_evaluation(one.scope.name) or says_evaluation(one.facts.path.stem) for one in inner)


def turns_of_its_own(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> tuple[int, ...]:
    """The loops around a place in its own function, by their sites, in each turn of which it makes something else: what
    is put away beside the others, or what belongs to a run of its own.
    """
    way = own_way(facts, scope, site)
    loops = parents_of(program.ev, facts).loops
    around = [loops[branch] for branch, arm in way[0].path if arm == "body" and branch in loops]
    apart = (Turns.RUNS, Turns.COPIES, Turns.SEEDED_PARTS)
    return tuple(
        loop.site
        for loop in around
        if is_of_one_turn(way[0], loop)
        or _is_of_its_own(program, way, 0, loop)
        or turns_of(program, way, 0, loop) in apart
    )


def _is_of_its_own(program: Program, way: Way, index: int, loop: tree.For | tree.While) -> bool:
    """Whether each turn of a loop makes something else at the place: what is put away beside the others, or belongs to
    one of the values that are written out, `for phase in ("train", "val")`, where no model is trained.
    """
    waypoint = way[index]
    if isinstance(loop, tree.For):
        if says_epochs(loop, waypoint.scope):
            return False
        if isinstance(waypoint.scope.behind(loop.iter), (tree.Display, tree.DictDisplay)):
            return index > 0 and trains_in_turn(program, way, index, loop) is False
    call = waypoint.scope.call_at(waypoint.site)
    return call is not None and is_kept(program.ev, waypoint.facts, waypoint.scope, call)


def _words(repetition: Repetition) -> str:
    waypoint = repetition.way[repetition.index]
    if repetition.loop is None:
        return f"the framework calls `{waypoint.scope.name}` again in one training"
    inner = repetition.way[repetition.index - 1].scope if repetition.index else None
    return f"a loop calls {_called(inner)} again" if inner is not None else "a loop runs it again"


def _of_the_end(program: Program, way: Way) -> Frequency:
    """How often what ends a way runs: a module once, and a function that nothing calls as its class and body say; what
    is handed over instead of called is called by what is not known.
    """
    ev = program.ev
    for index, waypoint in enumerate(way[1:], start=1):
        inner = way[index - 1]
        if not isinstance(inner.scope.node, tree.FunctionDef) or inner.scope.name == "__init__":
            continue
        if waypoint.scope.call_at(waypoint.site) is not None or started_uses(ev, inner.scope):
            continue
        if reads_of_property(ev, inner.facts, inner.scope)[0] or turns_of(program, way, index, None) is Turns.RUNS:
            continue
        return Frequency(Often.UNKNOWN, f"it is not known what calls {_called(inner.scope)}")
    end = way[-1]
    node, around = end.scope.node, end.scope.parent
    if not isinstance(node, tree.FunctionDef):
        return _ONCE
    if is_called_unseen(node.name) and node.name != "__init__":
        return Frequency(Often.AGAIN, f"{_called(end.scope)} is called many times, by calls that are not in sight")
    cls = class_of_method(ev, end.facts, end.scope)
    if cls is not None:
        bases = external_bases(ev, cls)
        option = next((found for base in bases if (found := asks_again(canonical(base), node.name)) is not None), None)
        if option is not None:
            if (place := _asked_on_an_unknown_object(program, node.name)) is not None:
                return Frequency(Often.UNKNOWN, f"`{node.name}` is also called in {place.path.name}")
            words = re.compile(option.encode())
            if not any(program.project.holds(path, words) for path in program.project.files):
                return _ONCE
            return Frequency(Often.UNKNOWN, f"with `{option}`, `{node.name}` is called again in one training")
        if node.name != "__init__" and not BASES_THAT_CALL_NOTHING.issuperset(bases):
            return Frequency(Often.UNKNOWN, f"it is not known how often `{node.name}` is called")
    named = end.scope if around is end.facts.scope else around
    if steps_what_it_is_given(end.scope) or (named and is_named_by_a_configuration(ev, end.facts, named.name)):
        return Frequency(Often.UNKNOWN, f"it is not known how often `{node.name}` is called")
    return _ONCE


def _asked_on_an_unknown_object(program: Program, method: str) -> Site | None:
    """A call of a method of this name on an object that is not known: `self.trainer.datamodule.val_dataloader()`."""
    ev = program.ev
    for path in sorted(set(ev.project.containing(method)) - program.tests):
        facts = ev.project.facts(path)
        for one in calls_in(ev, facts, method) if facts is not None else ():
            if isinstance(one.call.func, tree.Attribute):
                values = ev.values(one.call.func, frame_without_callers(ev, one.facts, one.scope))
                if UNKNOWN in values or any(isinstance(value, MemberOf) for value in values):
                    return Site(path, one.call.site)
    return None


def _called_again(program: Program, leading: list[Way]) -> Frequency:
    """Whether a training is called in two places, one after the other, and goes on with the same model."""
    for first, second in combinations(leading, 2):
        parting = next((index for index, pair in enumerate(zip(first, second, strict=False)) if _parts(*pair)), None)
        if not parting or never_together((first[parting:],), (second[parting:],)):
            continue
        if goes_on_training(program, first[:parting]):
            _, row = program.places.row(Site(second[parting].facts.path, second[parting].site))
            place = f"{second[parting].facts.path.name}, line {row}"
            return Frequency(
                Often.AGAIN, f"{_called(first[parting - 1].scope)} is called again ({place}) to train further"
            )
        shared = given_to_both(first[parting], second[parting])
        if shared is not None and goes_on_training(program, first[:parting], trusts=False):
            again = _called(first[parting - 1].scope)
            return Frequency(Often.UNKNOWN, f"{again} is called twice with `{shared}`, and may train it further")
    return _ONCE


def _parts(first: Waypoint, second: Waypoint) -> bool:
    return first.scope is not second.scope or first.site != second.site
