"""Global generators that are seeded again and again with the same number, inside the loop of epochs or steps.

A seeding call and the loop that repeats it may be in different functions; the way from one to the other shows that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import conjuncts, dotted_name
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.programs.frequency import training_around
from torchrepro_lint.program.programs.varying import varies_within
from torchrepro_lint.program.programs.worker_seedings import is_for_workers_alone
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.if_tests import says, tests_around
from torchrepro_lint.program.running.made_once import is_made_once
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.set_apart import sets_apart
from torchrepro_lint.program.running.training_hooks import is_training_hook
from torchrepro_lint.program.running.way_frames import may_come_through
from torchrepro_lint.program.running.ways import Way, Waypoint
from torchrepro_lint.program.seeds.seed_faults import is_stand_in

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["Reseeding", "is_of_an_evaluation", "repeats", "reseedings"]

_GLOBAL = frozenset({"python", "numpy", "torch", "torch-cuda"})


@dataclass(frozen=True, slots=True)
class Reseeding:
    """A seeding call inside a loop. `site` is the call to report, `loop` the statement that repeats it: with
    `by_framework` the function that a framework calls in each epoch or step.
    """

    seeding: Evidence
    site: Site
    loop: Site
    between: tuple[Site, ...]
    by_framework: bool = False


def reseedings(program: Program) -> Iterator[Reseeding]:
    """All of them, one for each block of seeding calls in a loop, in the order of files and text."""
    found: dict[int, list[tuple[ArmPath, Reseeding]]] = {}
    for one in program.evidence:
        if one.effect != "seed" or not one.seeds & _GLOBAL or one.name.startswith("transformers.Train"):
            continue
        if not isinstance(one.node, tree.Call) or program.is_test(one.site.path) or is_stand_in(program, one):
            continue
        if _is_given_to_a_loader(program, one):
            continue
        program.ev.begin_question()
        if is_for_workers_alone(program, one):
            continue
        for way in ways_of(program, one):
            made = _of_way(program, one, way)
            if made is not None and not _is_seeded_anew(program, one, *made):
                waypoint, repeated = made
                blocks = found.setdefault(id(waypoint.scope), [])
                # What an arm below seeds as well belongs to the block around it.
                if not any(_is_below(waypoint, path) or _is_beside(waypoint, path) for path, _ in blocks):
                    blocks.append((waypoint.path, repeated))
    every = (again for blocks in found.values() for _, again in blocks)
    yield from sorted(every, key=lambda again: (str(again.site.path), again.site.number))


def _is_given_to_a_loader(program: Program, one: Evidence) -> bool:
    """Whether a seed is called where it was to be passed, `worker_init_fn=np.random.seed(0)`: TRL106 reports that."""
    match parents_of(program.ev, one.frame.facts).of(one.node):
        case tree.Arg(keyword="worker_init_fn"):
            return True
    return False


def _is_seeded_anew(program: Program, one: Evidence, waypoint: Waypoint, repeated: Reseeding) -> bool:
    """Whether the loop gives the generator another seed in each turn as well: what follows the constant one is an
    evaluation or a sample, which is to see the same each time.
    """
    return any(
        _is_in_the_turn(program, at, waypoint, repeated)
        and (other.value is None or varies_within(program.ev, way, index, other.value))
        for other in program.evidence
        if one.seeds <= other.seeds and (other.value is not None or _seeds_from_the_system(other))
        for way in ways_of(program, other)
        for index, at in enumerate(way)
    )


def _seeds_from_the_system(other: Evidence) -> bool:
    """Whether a call takes its seed from the system: `np.random.seed()`."""
    known = seeding_call(other.name)
    return known is not None and known.default is None and isinstance(other.node, tree.Call) and not other.node.args


def _is_in_the_turn(program: Program, at: Waypoint, waypoint: Waypoint, repeated: Reseeding) -> bool:
    """Whether a place is in the loop, or in a hook of the program: nothing says in which order these are called."""
    if not repeated.by_framework:
        return at.facts.path == repeated.loop.path and any(branch == repeated.loop.number for branch, _ in at.path)
    if at.scope is waypoint.scope:
        return True
    beside = at.facts.path in program.imports.together(waypoint.facts.path)
    return beside and is_training_hook(program.ev, at.facts, at.scope)


def _is_below(waypoint: Waypoint, path: ArmPath) -> bool:
    """Whether a place is in the block `path`, or in an arm below it that no other loop repeats."""
    below = waypoint.path[len(path) :]
    return waypoint.path[: len(path)] == path and not any(branch in waypoint.scope.loops for branch, _ in below)


def _is_beside(waypoint: Waypoint, path: ArmPath) -> bool:
    """Whether a place is in another arm of the `if` whose arm the block `path` is: one of the two runs."""
    return (
        len(waypoint.path) == len(path) > 0
        and waypoint.path[:-1] == path[:-1]
        and waypoint.path[-1][0] == path[-1][0]
        and isinstance(waypoint.scope.branches.get(path[-1][0]), tree.If)
    )


def is_of_an_evaluation(program: Program, again: Reseeding) -> bool:
    """Whether a seed is for what an evaluation draws: a function around it, up to the loop, evaluates by its name."""
    places = (place for site in again.between if (place := place_of(program.ev, site)) is not None)
    evaluates = function_words("evaluates").search
    return any(evaluates(place.scope.name) for place in places)


def repeats(program: Program, ways: tuple[Way, ...]) -> bool:
    """Whether a place is repeated by a loop of epochs or steps, on every way."""
    return all((found := training_around(program, way)) is not None and found.loop is not None for way in ways)


def _of_way(program: Program, one: Evidence, way: Way) -> tuple[Waypoint, Reseeding] | None:
    ev = program.ev
    known = seeding_call(one.name)
    if one.value is None and (
        known is None or known.default is None or (isinstance(one.node, tree.Call) and one.node.args)
    ):
        return None  # from entropy, or hidden behind a star
    found = training_around(program, way)
    if found is None:
        return None
    within = way[: found.index + 1]
    if any(
        _keeps_state(ev, at.scope)
        or _is_of_the_first_call(at)
        or _is_told_when_done(at, within[:index])
        or _is_of_a_trial(at)
        for index, at in enumerate(within)
    ):
        return None
    is_hook = found.loop is None
    if _runs_once(within[-1], found.loop) or (
        one.value is not None and varies_within(ev, way, found.index, one.value, given=is_hook)
    ):
        return None
    if not may_come_through(ev, within):
        return None
    spoken = next((at for at in within if not _is_helper(at.scope)), within[-1])
    between = tuple(Site(at.facts.path, at.site) for at in within)
    site = Site(spoken.facts.path, spoken.site)
    return spoken, Reseeding(one, site, found.site, between, by_framework=is_hook)


def _runs_once(waypoint: Waypoint, loop: tree.For | tree.While | None) -> bool:
    """Whether an `if` or a `match` inside the loop compares something with a constant: `if epoch == 0:`, `case 0:`."""
    inside = loop is None
    for branch, arm in waypoint.path:
        if loop is not None and branch == loop.site:
            inside = True
            continue
        statement = waypoint.scope.branches.get(branch)
        if not inside:
            continue
        match statement:
            case tree.If(test=tree.Compare(left=tree.Name() | tree.Attribute(), ops=("==",))) if arm == "then":
                return True
            case tree.If(test=tree.Unary(op="not")) if arm == "then":
                return True
            case tree.Match(subject=tree.Name() | tree.Attribute(), cases=cases):
                literals = cases[int(arm.removeprefix("case"))].literals
                if literals is not None and len(literals) == 1:
                    return True
    return False


def _is_of_the_first_call(waypoint: Waypoint) -> bool:
    """Whether a program reaches the place once: under `if not ready:`, which the function sets itself, or with what is
    made there and then kept.
    """
    if any(is_made_once(waypoint.scope, branch, arm) for branch, arm in waypoint.path):
        return True
    for test, holds in tests_around(waypoint.scope, waypoint.path):
        match test:
            case tree.Unary(op="not", operand=flag) if holds:
                pass
            case tree.Compare(left=flag, ops=("is" | "==",), comparators=(tree.Const(value=None | False),)) if holds:
                pass
            case _:
                continue
        if isinstance(flag, tree.Name) and flag.id in waypoint.scope.declared:
            return True
        if isinstance(flag, tree.Attribute) and any(
            isinstance(store.target, tree.Attribute) and dotted_name(store.target) == dotted_name(flag) is not None
            for store in waypoint.scope.stores
        ):
            return True
    return False


def _is_told_when_done(waypoint: Waypoint, inside: Sequence[Waypoint]) -> bool:
    """Whether a place runs once for each object: under `if not data.is_sampled:`, where a method that
    is called there sets that attribute of its object to True.
    """
    flags = {
        part.operand.attr
        for test, holds in tests_around(waypoint.scope, waypoint.path)
        if holds
        for part in conjuncts(test)
        if isinstance(part, tree.Unary) and part.op == "not" and isinstance(part.operand, tree.Attribute)
    }
    return any(
        isinstance(store.target, tree.Attribute)
        and store.target.attr in flags
        and isinstance(store.value, tree.Const)
        and store.value.value is True
        for at in inside
        for store in at.scope.stores
        if flags
    )


def _is_of_a_trial(waypoint: Waypoint) -> bool:
    """Whether an option makes a function reach the place that asks for the same data again and again."""
    tests = tests_around(waypoint.scope, waypoint.path)
    return any(says(test, holds, function_words("same_data")) is True for test, holds in tests)


def _keeps_state(ev: Evaluator, scope: Scope) -> bool:
    """Whether a function, or the class around it, saves the state of a generator or puts it back."""
    parent = scope.parent
    around = parent if parent is not None and isinstance(parent.node, tree.ClassDef) else None
    scopes = (scope,) if around is None else around.children
    return ev.of_text(("keeps state", id(around or scope)), lambda: any(map(_has_state_kept, scopes)))


def _has_state_kept(scope: Scope) -> bool:
    words = function_words("keeps_state")
    return any(sets_apart(call) or words.fullmatch(called_name(call.func) or "") is not None for call, _ in scope.calls)


def _is_helper(scope: Scope) -> bool:
    return isinstance(scope.node, tree.FunctionDef) and bool(function_words("makes_repeatable").search(scope.node.name))
