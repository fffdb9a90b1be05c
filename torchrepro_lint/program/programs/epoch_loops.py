"""In which epoch loop a loader is gone through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.classes import method_frame
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import Arguments, ExternalObject, Instance, MethodValue, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.frequency import Repetition, going_on
from torchrepro_lint.program.programs.restarted_iterators import Restart, iterators_in_loops, restarts
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.program.running.epochs import says_evaluation
from torchrepro_lint.program.running.name_flow import NameFlow, name_flow
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import own_statements
from torchrepro_lint.program.running.ways import Way, ways

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "EpochLoop",
    "Iteration",
    "epoch_loop_over",
    "is_for_evaluation",
    "iterated_beside",
    "iterations_over",
    "passes_over",
    "restart_over",
]

_LOOP: Final = re.compile(rb"for ")
_ITERATOR: Final = re.compile(rb"iter\(")
#: What gives the items of its first argument, or of the first two.
_AROUND: Final = frozenset({"enumerate", "tqdm", "iter", "zip", "track", "log_every", "trange"})
#: How many objects may be around a loader, one in the other.
_MAX_AROUND: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class EpochLoop:
    """The `for` that iterates a loader, or the call that makes an iterator over it, its file, and the epoch loop around
    that.
    """

    iteration: tree.For | tree.Call
    facts: ModuleFacts
    run: Repetition

    @property
    def over(self) -> tree.Expr:
        """What is gone through."""
        return self.iteration.iter if isinstance(self.iteration, tree.For) else self.iteration

    @property
    def site(self) -> Site:
        return self.run.site


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """A `for`, or a call that makes an iterator in a loop, and the objects made at one place that it goes through."""

    facts: ModuleFacts
    scope: Scope
    node: tree.For | tree.Call
    over: tuple[ExternalObject, ...]


def epoch_loop_over(program: Program, loader: Loader) -> EpochLoop | None:
    """The epoch loop in which a loader is gone through, where it can be seen; none that evaluates."""
    ev = program.ev
    for path in program.imports.ordered(program.imports.together(loader.facts.path)):
        for place in _iterations(program, path).get(loader.site, ()):
            if not any(_is_made_as(one, loader) for one in place.over):
                continue
            around = [
                run
                for way in ways(ev, place.facts, place.scope, place.node.site)
                if (run := _epochs(program, way)) is not None
            ]
            if around:
                return EpochLoop(place.node, place.facts, _of_loader(around, loader))
    return None


def passes_over(program: Program, loader: Loader) -> Iterator[Iteration]:
    """The places at which a loader is gone through, as far as they can be seen."""
    for path in program.imports.ordered(program.imports.together(loader.facts.path)):
        for place in _iterations(program, path).get(loader.site, ()):
            if any(_is_made_as(one, loader) for one in place.over):
                yield place


def iterations_over(program: Program, facts: ModuleFacts, call: tree.Call) -> Iterator[Iteration]:
    """The places at which what a call of a library makes is gone through, as far as they can be seen."""
    made = Site(facts.path, call.site)
    files = program.imports.ordered(program.imports.together(facts.path))
    flow = name_flow(program.ev, files, [(facts, call)])
    for path in files:
        for where, scope, node in _places(program, path):
            over = _over(node)
            if flow.may_reach(where, scope, over):
                found = [one for one in _iterated_at(program, where, scope, over) if one.site == made]
                if found:
                    yield Iteration(where, scope, node, tuple(found))


def iterated_beside(program: Program, loader: Loader) -> Iterator[Site]:
    """The places that make what a loop goes through together with a loader: `for a, b in zip(first, second)`."""
    for place in passes_over(program, loader):
        for site, places in _iterations(program, place.facts.path).items():
            if site != loader.site and any(one.node is place.node for one in places):
                yield site


def _iterations(program: Program, path: Path) -> dict[Site, list[Iteration]]:
    """The `for` loops and iterators in loops of a file, by the places that make what they go through."""
    nothing: dict[Site, list[Iteration]] = {}
    return program.ev.on_its_own(("iterations", path), lambda: _find_iterations(program, path), nothing)


def _find_iterations(program: Program, path: Path) -> dict[Site, list[Iteration]]:
    found: dict[Site, list[Iteration]] = {}
    flow = _flow_of_loaders(program)
    for facts, scope, node in _places(program, path):
        if not flow.may_reach(facts, scope, _over(node)):
            continue
        made: dict[Site, list[ExternalObject]] = {}
        for one in _iterated_at(program, facts, scope, _over(node)):
            if one.site is not None:
                made.setdefault(one.site, []).append(one)
        for site, objects in made.items():
            found.setdefault(site, []).append(Iteration(facts, scope, node, tuple(objects)))
    return found


def _flow_of_loaders(program: Program) -> NameFlow:
    """Where the project's loaders may come to."""

    def find() -> NameFlow:
        calls = [(one.facts, one.call) for loaders in program.loader_sites for one in loaders[:1]]
        together = (program.imports.together(facts.path) for facts, _ in calls)
        files = program.imports.ordered(frozenset[Path]().union(*together))
        return name_flow(program.ev, files, calls)

    return program.once(("flow of loaders",), find)


def _places(program: Program, path: Path) -> list[tuple[ModuleFacts, Scope, tree.For | tree.Call]]:
    """The loops of a file, and the iterators that are made in its loops."""
    facts = program.facts(path) if program.project.holds(path, _LOOP) else None
    if facts is None:
        return []
    loops = [(facts, scope, loop) for scope, loop in _loops(program, facts)]
    return [*loops, *((facts, scope, call) for scope, call in iterators_in_loops(program, facts))]


def _over(node: tree.For | tree.Call) -> tree.Expr:
    return node.iter if isinstance(node, tree.For) else node


def _iterated_at(program: Program, facts: ModuleFacts, scope: Scope, over: tree.Expr) -> frozenset[ExternalObject]:
    """The objects of libraries that an expression stands for where a loop goes through it, in any of its frames."""
    nothing: frozenset[ExternalObject] = frozenset()
    return program.ev.on_its_own(
        ("iterated-at", over),
        lambda: frozenset(
            one for frame in contexts(program.ev, facts, scope) for one in _gone_through(program, over, frame)
        ),
        nothing,
    )


def _epochs(program: Program, way: Way) -> Repetition | None:
    """The loop of the project that goes on with one training around a place; none around an evaluation."""
    found = going_on(program, way)
    if found is None or found.loop is None or says_evaluation(way[found.index].scope.name):
        return None
    return found


def restart_over(program: Program, loader: Loader) -> Restart | None:
    """Where an iterator over a loader is made again each time it ends; nowhere that evaluates."""
    for path in program.imports.ordered(program.imports.together(loader.facts.path)):
        facts = program.facts(path) if program.project.holds(path, _ITERATOR) else None
        for one in restarts(program, facts) if facts is not None else ():
            if says_evaluation(one.scope.name) or facts is None:
                continue
            if any(_is_made_as(value, loader) for value in _iterated_at(program, facts, one.scope, one.over)):
                return one
    return None


def _of_loader(runs: list[Repetition], loader: Loader) -> Repetition:
    """The run that passes the function in which the loader is made, if any does: others are over other loaders."""
    return next((run for run in runs if any(waypoint.scope is loader.scope for waypoint in run.way)), runs[0])


def _loops(program: Program, facts: ModuleFacts) -> Iterator[tuple[Scope, tree.For]]:
    """The `for` loops of a file, each with the scope that it is in."""
    yield from program.ev.of_text(("for loops", id(facts)), lambda: tuple(_find_loops(facts)))


def _find_loops(facts: ModuleFacts) -> Iterator[tuple[Scope, tree.For]]:
    for scope in facts.walk_scopes():
        if not scope.loops:
            continue
        body = scope.node.body if isinstance(scope.node, (tree.FunctionDef, tree.ClassDef)) else facts.body
        found = [one for one in own_statements(body) if isinstance(one, tree.For) and one.body]
        yield from ((scope, loop) for loop in sorted(found, key=lambda one: one.site))


def _iterated_in(node: tree.Expr, scope: Scope) -> Iterator[tree.Expr]:
    """What a `for` goes through: the expression itself, or what `enumerate`, `tqdm` and the like are given."""
    match scope.behind(node):
        case tree.Call(func=func, args=args) if called_name(func) in _AROUND and args and not args[0].star:
            for arg in args[:2]:
                given = arg.value
                match given:
                    case tree.Call(func=inner, args=(first, *_)) if called_name(inner) == "cycle" and len(args) > 1:
                        given = first.value
                yield from _iterated_in(given, scope)
            return
    if isinstance(node, (tree.Name, tree.Attribute, tree.Subscript, tree.Call)):
        yield node


def _gone_through(program: Program, over: tree.Expr, frame: Frame, depth: int = 0) -> Iterator[ExternalObject]:
    """The objects of libraries that a `for` goes through, or that an object of the project goes through in its turn."""
    for node in _iterated_in(over, frame.scope):
        for value in program.ev.values(node, frame):
            if isinstance(value, ExternalObject):
                yield value
            elif isinstance(value, Instance) and depth < _MAX_AROUND:
                for inner, method in _iterated_by(program, value):
                    yield from _gone_through(program, inner, method, depth + 1)


def _is_made_as(value: ExternalObject, loader: Loader) -> bool:
    """Whether an object comes from a loader's call, and not in another frame, in which it gets no sampler."""
    if value.site != loader.site:
        return False
    return value.arguments is None or not any(
        loader.given(role)[0] and not loader.lacks(role) and replace(loader, arguments=value.arguments).lacks(role)
        for role in ("sampler", "batch_sampler")
    )


def _iterated_by(program: Program, around: Instance) -> Iterator[tuple[tree.Expr, Frame]]:
    """What an object takes its items from where it is gone through: `iter(self.loader)`, `for batch in self.loader`."""
    for method in ordered(program.ev.attribute(around, "__iter__")):
        if isinstance(method, MethodValue):
            frame = method_frame(program.ev, method, Arguments())
            for call, _ in frame.scope.calls:
                if called_name(call.func) == "iter" and call.args:
                    yield call.args[0].value, frame
            yield from ((one.value, frame) for one in frame.scope.yields if one.delegates and one.value is not None)
            yield from ((loop.iter, frame) for scope, loop in _loops(program, frame.facts) if scope is frame.scope)


def is_for_evaluation(program: Program, facts: ModuleFacts, call: tree.Call) -> bool:
    """Whether a sampler or loader is called after what no order matters to: `val_loader`, `RandomSampler(testset)`."""
    names = [name for arg in call.args[:1] for name in _names(arg.value)]
    for above in parents_of(program.ev, facts).around(call):
        match above:
            case tree.Assign(targets=targets):
                names.extend(name for target in targets for name in _names(target))
                break
            case tree.FunctionDef(name=name):
                names.append(name)
                break
    return any(says_evaluation(name) for name in names)


def _names(node: tree.Expr) -> Iterator[str]:
    match node:
        case tree.Name(id=name):
            yield name
        case tree.Attribute(attr=attr):
            yield attr
        case tree.Subscript(value=value, index=tree.Const(value=str() as text)):
            yield text
            yield from _names(value)
