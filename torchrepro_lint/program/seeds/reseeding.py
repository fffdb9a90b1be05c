"""Global generators that are seeded again and again with the same number, inside the loop of epochs or steps.

A seeding call and the loop that repeats it may be in different functions; the way from one to the other shows that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.epochs import says_epochs, takes_steps
from torchrepro_lint.program.running.if_tests import says, tests_around
from torchrepro_lint.program.running.made_once import is_made_once
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.set_apart import sets_apart
from torchrepro_lint.program.running.training_hooks import is_training_hook
from torchrepro_lint.program.running.varying import varies_within
from torchrepro_lint.program.running.way_frames import may_come_through
from torchrepro_lint.program.running.ways import Way, Waypoint
from torchrepro_lint.program.seeds.saved_models import goes_through_saved_models
from torchrepro_lint.program.seeds.seed_faults import is_stand_in, runs_in_workers
from torchrepro_lint.program.switches.intent import Evidence
from torchrepro_lint.program.switches.intent_at import ways_of
from torchrepro_lint.program.workers.main_process import says_epoch

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["Reseeding", "repeats", "reseedings"]

_GLOBAL = frozenset({"python", "numpy", "torch", "torch-cuda"})


@dataclass(frozen=True, slots=True)
class Reseeding:
    """A seeding call inside a loop. `site` is the call to speak of, `loop` the statement that repeats it: with
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
        if not isinstance(one.node, tree.Call) or program.is_test(one.site.path) or is_stand_in(one):
            continue
        program.ev.begin_question()
        if runs_in_workers(ways_of(program, one)):
            continue
        for way in ways_of(program, one):
            made = _of_way(program.ev, one, way)
            if made is not None and not _is_seeded_anew(program, one, *made):
                waypoint, repeated = made
                blocks = found.setdefault(id(waypoint.scope), [])
                # What an arm below seeds as well belongs to the block around it.
                if not any(_is_below(waypoint, path) for path, _ in blocks):
                    blocks.append((waypoint.path, repeated))
    every = (again for blocks in found.values() for _, again in blocks)
    yield from sorted(every, key=lambda again: (str(again.site.path), again.site.number))


def _is_seeded_anew(program: Program, one: Evidence, waypoint: Waypoint, repeated: Reseeding) -> bool:
    """Whether the loop gives the generator another seed in each turn as well: what follows the constant one is an
    evaluation or a sample, which is to see the same each time.
    """
    return any(
        _is_in_the_turn(program, at, waypoint, repeated) and varies_within(program.ev, way, index, other.value)
        for other in program.evidence
        if one.seeds <= other.seeds and other.value is not None
        for way in ways_of(program, other)
        for index, at in enumerate(way)
    )


def _is_in_the_turn(program: Program, at: Waypoint, waypoint: Waypoint, repeated: Reseeding) -> bool:
    """Whether a place is in the loop, or in a hook of the program: nothing says in which order these are called."""
    if at.scope is not waypoint.scope:
        beside = repeated.by_framework and at.facts.path in program.imports.together(waypoint.facts.path)
        return beside and is_training_hook(program.ev, at.facts, at.scope)
    return repeated.by_framework or any(branch == repeated.loop.number for branch, _ in at.path)


def _is_below(waypoint: Waypoint, path: ArmPath) -> bool:
    """Whether a place is in the block `path`, or in an arm below it that no other loop repeats."""
    below = waypoint.path[len(path) :]
    return waypoint.path[: len(path)] == path and not any(branch in waypoint.scope.loops for branch, _ in below)


def repeats(ev: Evaluator, ways: tuple[Way, ...]) -> bool:
    """Whether a place is repeated by a loop of epochs or steps, on every way."""
    return all(any(_epoch_loop(ev, waypoint) is not None for waypoint in way) for way in ways)


def _of_way(ev: Evaluator, one: Evidence, way: Way) -> tuple[Waypoint, Reseeding] | None:
    known = seeding_call(one.name)
    if one.value is None and (
        known is None or known.default is None or (isinstance(one.node, tree.Call) and one.node.args)
    ):
        return None  # from entropy, or hidden behind a star
    for index, waypoint in enumerate(way):
        if _keeps_state(ev, waypoint.scope) or _is_of_the_first_call(waypoint) or _is_of_a_trial(waypoint):
            return None
        loop = _epoch_loop(ev, waypoint)
        hook = waypoint.scope.node if loop is None and is_training_hook(ev, waypoint.facts, waypoint.scope) else None
        if loop is not None or hook is not None:
            if _runs_once(waypoint, loop) or (
                one.value is not None and varies_within(ev, way, index, one.value, given=hook is not None)
            ):
                return None
            if not may_come_through(ev, way[: index + 1]):
                return None
            spoken = next((at for at in way[: index + 1] if not _is_helper(at.scope)), waypoint)
            repeats = Site(waypoint.facts.path, hook.site if hook is not None else loop or 0)
            between = tuple(Site(at.facts.path, at.site) for at in way[: index + 1])
            site = Site(spoken.facts.path, spoken.site)
            return spoken, Reseeding(one, site, repeats, between, by_framework=hook is not None)
    return None


# --- the loop -----------------------------------------------------------------------------------------------------


def _epoch_loop(ev: Evaluator, waypoint: Waypoint) -> int | None:
    """The site of the innermost loop around a place that counts epochs or takes the steps of a training."""
    for branch, arm in reversed(waypoint.path):
        if branch in waypoint.scope.loops and arm != "else" and _counts(ev, waypoint, branch):
            return None if _is_a_run(ev, waypoint, (branch, arm)) else branch
    return None


def _is_a_run(ev: Evaluator, waypoint: Waypoint, body: tuple[int, str]) -> bool:
    """Whether each turn of a loop is a training of its own, or the evaluation of another saved model."""
    return _makes_optimizer(ev, waypoint, body) or goes_through_saved_models(ev, waypoint.facts, waypoint.scope, body)


def _makes_optimizer(ev: Evaluator, waypoint: Waypoint, body: tuple[int, str]) -> bool:
    """Whether each turn of a loop makes an optimizer: it is then a training of its own."""
    frame = frame_without_callers(ev, waypoint.facts, waypoint.scope)
    return any(
        isinstance(made, External) and made.name.startswith("torch.optim.")
        for call, path in waypoint.scope.calls
        if path and path[-1] == body
        for made in ev.values(call.func, frame)
    )


def _counts(ev: Evaluator, waypoint: Waypoint, branch: int) -> bool:
    scope = waypoint.scope
    match parents_of(ev, waypoint.facts).loops.get(branch):
        case tree.For(target=target, iter=iterated) as loop:
            if isinstance(_behind(scope, iterated), (tree.Display, tree.DictDisplay)):
                return False  # settings that are written out, not a count
            names = list(_names(target))
            if any(says_epoch(name) for name in names):
                return True
            if any(function_words("repeats_a_run").search(name) for name in names):
                return False
            return says_epochs(loop, scope) or takes_steps(scope, branch)
        case tree.While(test=test):
            return any(says_epoch(name) for name in _names(test)) or takes_steps(scope, branch)
    return False


def _behind(scope: Scope, node: tree.Expr) -> tree.Expr:
    """The expression behind a name of the scope, or behind a constant of the module."""
    if isinstance(node, tree.Name) and node.id not in scope.bindings:
        owner = scope.binder(node.id)
        bindings = owner.bindings[node.id] if owner is not None else []
        if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].unpack:
            return bindings[0].node  # type: ignore[return-value]
    return scope.behind(node)


def _runs_once(waypoint: Waypoint, loop: int | None) -> bool:
    """Whether an `if` or a `match` inside the loop compares something with a constant: `if epoch == 0:`, `case 0:`."""
    inside = loop is None
    for branch, arm in waypoint.path:
        if branch == loop:
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
    """Whether a program comes by the place once: under `if not ready:`, which the function sets itself, or with what is
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


def _is_of_a_trial(waypoint: Waypoint) -> bool:
    """Whether an option makes a function come by the place that asks for the same data again and again."""
    tests = tests_around(waypoint.scope, waypoint.path)
    return any(says(test, holds, function_words("same_data")) is True for test, holds in tests)


def _keeps_state(ev: Evaluator, scope: Scope) -> bool:
    """Whether a function, or the class around it, saves the state of a generator or puts it back."""
    parent = scope.parent
    around = parent if parent is not None and isinstance(parent.node, tree.ClassDef) else None
    scopes = (scope,) if around is None else around.children
    return ev.remembered(("keeps state", id(around or scope)), lambda: any(map(_has_state_kept, scopes)), False)


def _has_state_kept(scope: Scope) -> bool:
    words = function_words("keeps_state")
    return any(sets_apart(call) or words.fullmatch(called_name(call.func) or "") is not None for call, _ in scope.calls)


def _is_helper(scope: Scope) -> bool:
    return isinstance(scope.node, tree.FunctionDef) and bool(function_words("makes_repeatable").search(scope.node.name))


def _names(root: tree.Expr) -> Iterator[str]:
    pending = [root]
    while pending:
        node = pending.pop()
        match node:
            case tree.Name(id=name) | tree.Attribute(attr=name):
                yield name
        pending.extend(sub_expressions(node))
