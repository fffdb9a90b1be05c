"""What moves torch's global generator between the seed and the passes over a loader, where an option decides it.

    torch.manual_seed(args.seed)
    for epoch in range(args.epochs):
        for batch in loader:  # its order is drawn from torch's generator
            ...
        if epoch % args.eval_every == 0:
            evaluate(model, val_loader)  # each pass over a loader draws a seed for its workers from it

The order repeats in each run with the same options. With others it is another one, though the seed is the same: the two
runs are not compared on the same batches.

Each pass over a loader without a generator draws one number (torch/utils/data/dataloader.py 2.13.0,
`_BaseDataLoaderIter.__init__`). What a network draws where it is run is left out: it is on the device of the network.

Only options count that say in which turns of a loop something is done, as how often a model is evaluated. One that
says whether it is done at all, `if args.finetune:`, or how often in a row, `range(args.num_clients)`, is what runs are
compared by: they differ in more than their batches.

Where no command and no configuration of the project gives such an option another value, nobody has two runs whose order
differs: what is seen there is for whoever asks for all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.program.evaluation.command_line import defaults_of, is_parsed
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, MemberOf, Site
from torchrepro_lint.program.intent.given_options import is_given_differently
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.programs.entry_path import Step, entry_runs
from torchrepro_lint.program.programs.epoch_loops import Iteration, passes_over
from torchrepro_lint.program.programs.first_weights import draws_weights, is_of_a_model
from torchrepro_lint.program.programs.idle_draws import is_idle
from torchrepro_lint.program.programs.run_places import comes_by, ways_to
from torchrepro_lint.program.programs.turns import Turns, turns_of
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.entry_walk import TRAINS, training_steps
from torchrepro_lint.program.running.epochs import is_range
from torchrepro_lint.program.running.guards import Guard, Place, guards, left_before
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.running.ways import Way, Waypoint, never_together
from torchrepro_lint.program.seeds.deciding_options import option_in
from torchrepro_lint.program.seeds.seeding import has_generator
from torchrepro_lint.program.seeds.torch_seeds import seedings_around, seeds_what_follows

if TYPE_CHECKING:
    from torchrepro_lint.facts.scopes import Binding, Scope
    from torchrepro_lint.program.loaders.loaders import Loader
    from torchrepro_lint.program.program import Program

__all__ = ["Moved", "moved_by"]

#: Functions of torch that draw on the CPU, unless they are told a device. A split is not among them: where an option
#: decides it, it decides which samples there are.
_ON_THE_CPU: Final = frozenset(f"torch.{name}" for name in ("rand", "randn", "randint", "randperm", "normal"))

_AS_BEFORE: Final = "the trainings before it end where they ended when it is run again"
_ITEMS_TOO: Final = "with another number of workers the items differ as well"
_ONE_VALUE: Final = "no command or configuration gives that option another value"


@dataclass(frozen=True, slots=True)
class Moved:
    """What moves the generator: in words, for a message (`args.eval_every`), and the places that show it."""

    by: str
    trace: tuple[Link, ...]
    #: Why no two runs of the project differ by it, if so.
    seldom: str | None = None


def moved_by(program: Program, loader: Loader) -> Moved | None:
    """What an option decides of the numbers that are drawn from torch's generator before or between the passes over a
    loader, preferably one by which runs of the project differ; None where nothing of the kind is seen.
    """
    key = ("moved by", loader.site)
    return program.once(key, lambda: _moved_by(program, loader))


def _moved_by(program: Program, loader: Loader) -> Moved | None:
    made = ways_to(program, loader.facts, loader.scope, loader.call.site)
    passes = [
        way
        for at in passes_over(program, loader)
        for way in _ways_to(program, at)
        if _are_of_one_run(program, made, way)
    ]
    first: Moved | None = None
    for found in _each(program, loader, passes):
        if found.seldom is None:
            return found
        first = first or found
    return first


def _each(program: Program, loader: Loader, passes: Sequence[Way]) -> Iterator[Moved]:
    yield from _by_the_number_of_workers(program, loader)
    yield from _by_another_pass(program, loader, passes)
    yield from _by_a_draw(program, loader, passes)
    yield from _by_a_run_before(program, loader, passes)


def _ways_to(program: Program, at: Iteration) -> tuple[Way, ...]:
    return ways_to(program, at.facts, at.scope, at.node.site)


def _are_of_one_run(program: Program, made: Iterable[Way], way: Way) -> bool:
    """Whether a program may come both by one of some ways and by another: programs that share a function for their
    trainings have each their own loaders.
    """
    ends = (one[-1] for one in (*made, way))
    outermost = [program.imports.above(end.facts.path) if end.scope.parent is None else None for end in ends]
    *others, own = outermost
    return own is None or not others or any(one is None or not own.isdisjoint(one) for one in others)


# --- draws ----------------------------------------------------------------------------------------------------------


def _by_a_draw(program: Program, loader: Loader, passes: Sequence[Way]) -> Iterator[Moved]:
    """Numbers that the program draws where an option decides it. The walk ends once each loop
    over the loader has taken a step: what is drawn after that, in a later part of its turns, is not looked for.
    """
    stepped = _steps_in(passes)
    for run in entry_runs(program):
        if not comes_by(program, run, loader.facts, loader.scope, loader.call.site):
            continue
        steps = run.steps_until(stepped) if stepped else run.steps
        seeds = [(one.order, _way_of(one.event)) for one in steps if one.kind == "seed" and "torch" in one.rngs]
        if not seeds:
            continue
        leading = passes or [_way_of(event) for event in run.events if event.note == TRAINS]
        for step in steps:
            if step.order < seeds[0][0] or not _draws_on_the_cpu(program, step):
                continue
            later = [way for order, way in seeds if order > step.order]
            still = [one for one in leading if not any(_comes_before(way, one) for way in later)]
            words = f"draws: {step.event.name}"
            drawn = _Drawn(_way_of(step.event), step.event.site, words)
            yield from _moved_on(program, loader, drawn, still)


def _steps_in(passes: Sequence[Way]) -> frozenset[Site]:
    """Where these loops over a loader take the steps of a training."""
    places = [(way[0].facts, way[0].scope, (way[0].site, "body")) for way in passes]
    return frozenset(
        Site(facts.path, call.site)
        for facts, scope, arm in places
        for call, path in scope.calls
        if arm in path and called_name(call.func) in training_steps()
    )


def _comes_before(way: Way, other: Way) -> bool:
    """Whether one way leads to a place above that of another, in the innermost function that they share."""
    met = _met(way, other)
    return met is not None and not met.loops


def _draws_on_the_cpu(program: Program, step: Step) -> bool:
    event = step.event
    if step.kind != "draw" or "torch" not in step.rngs or event.name not in _ON_THE_CPU or is_idle(program.ev, event):
        return False
    if draws_weights(event) and is_of_a_model(program, event):
        return False
    device = event.arguments.keyword("device")
    return device is None or device[0] <= {Constant("cpu"), Constant(None)}


def _way_of(event: Event) -> Way:
    """The calls of a walk that lead to an event, from the inside out."""
    calls = [(link.frame, link.site) for link in event.chain if link.frame is not None]
    if event.frame is not None:
        calls.append((event.frame, event.site))
    return tuple(
        Waypoint(frame.facts, frame.scope, site.number, frame.scope.path_at(site.number))
        for frame, site in reversed(calls)
    )


# --- passes ---------------------------------------------------------------------------------------------------------


def _by_another_pass(program: Program, loader: Loader, passes: Sequence[Way]) -> Iterator[Moved]:
    """A pass over another loader of the same run that an option decides."""
    made = ways_to(program, loader.facts, loader.scope, loader.call.site)
    for other in program.loader_sites:
        first = other[0]
        if first.site == loader.site or all(map(has_generator, other)) or program.is_test(first.facts.path):
            continue
        if first.facts.path not in program.imports.together(loader.facts.path):
            continue
        ends = ways_to(program, first.facts, first.scope, first.call.site)
        if ends and made and not any(_are_of_one_run(program, made, end) for end in ends):
            continue
        for at in passes_over(program, first):
            site = Site(at.facts.path, at.node.site)
            for way in _ways_to(program, at):
                drawn = _Drawn(way, site, "each pass over a loader draws a seed")
                yield from _moved_on(program, loader, drawn, passes)


def _by_the_number_of_workers(program: Program, loader: Loader) -> Iterator[Moved]:
    """The items of a loader whose number of workers an option gives: without workers they are drawn from the stream of
    the order.
    """
    given, _ = loader.given("num_workers")
    options = [one for one in given if isinstance(one, MemberOf) and isinstance(one.receiver, ExternalObject)]
    said = next((one.attr for one in options if _is_zero_by_default(program, one)), None)
    draws = program.worker_run(loader).draws_from("torch") if said is not None else []
    if draws:
        event = draws[0].event
        drawn = Link(event.site, f"where `{said}` is 0, the items are drawn from it as well: {event.name}")
        yield Moved(f"`{said}`", (*event.chain, drawn), _ITEMS_TOO)


def _is_zero_by_default(program: Program, option: MemberOf) -> bool:
    """Whether an option of the command line is 0 unless the user gives another number."""
    parsed = option.receiver
    if not isinstance(parsed, ExternalObject) or not is_parsed(parsed):
        return False
    defaults = [program.ev.values(*one) for one in defaults_of(program.ev, parsed, option.attr)]
    return bool(defaults) and all(values == {Constant(0)} for values in defaults)


# --- several runs under one seed ------------------------------------------------------------------------------------


def _by_a_run_before(program: Program, loader: Loader, passes: Sequence[Way]) -> Iterator[Moved]:
    """A loop over several trainings under one seed, of which one may end early: those after it have another order.
    Where all of them are run again, each ends where it ended.
    """
    seeds = [
        way
        for one in seedings_around(program, loader.facts, loader.scope)
        if "torch" in one.seeds and seeds_what_follows(program, one)
        for way in ways_of(program, one)
    ]
    for way in passes:
        inner: tree.For | tree.While | None = None
        for index, waypoint in enumerate(way):
            for loop in _loops_around(program, waypoint):
                if inner is not None and _may_end_early(inner) and isinstance(loop, tree.For):
                    is_seeded = any(
                        (loop.site, "body") in at.path for seed in seeds for at in seed if at.scope is waypoint.scope
                    )
                    if not is_seeded and turns_of(program, way, index, loop) is Turns.RUNS:
                        said = "each turn is a training of its own, with no seed"
                        outer = Link(Site(waypoint.facts.path, loop.site), said)
                        yield Moved("when the trainings before it end", (outer,), _AS_BEFORE)
                inner = loop


def _loops_around(program: Program, waypoint: Waypoint) -> Iterator[tree.For | tree.While]:
    loops = parents_of(program.ev, waypoint.facts).loops
    for branch, arm in reversed(waypoint.path):
        if arm == "body" and branch in loops:
            yield loops[branch]


def _may_end_early(loop: tree.For | tree.While) -> bool:
    return isinstance(loop, tree.For) and any(_leaves(one) for one in loop.body)


def _leaves(statement: tree.Stmt) -> bool:
    match statement:
        case tree.If(body=body, orelse=orelse):
            return any((isinstance(one, tree.Jump) and one.kind == "break") or _leaves(one) for one in (*body, *orelse))
    return False


# --- what decides that something runs -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A draw: a way to it, its place, and what it is in words."""

    way: Way
    site: Site
    words: str


def _moved_on(program: Program, loader: Loader, drawn: _Drawn, passes: Sequence[Way]) -> Iterator[Moved]:
    """What options decide on a way to a draw, in the runs that come to one of the passes after it."""
    way = drawn.way
    for other in passes:
        met = _met(way, other)
        if met is None or never_together((way,), (other,)) or _is_of_another_loader(program, loader, met):
            continue
        for index, waypoint in enumerate(way[: met.index + 1]):
            beside = other[met.at] if index == met.index else None
            for said, at in _decided(program, way, index, beside):
                steps = (
                    Link(Site(waypoint.facts.path, at), f"`{said}` decides in which turns this runs"),
                    Link(drawn.site, drawn.words),
                )
                seldom = None if is_given_differently(program, said) else _ONE_VALUE
                yield Moved(f"`{said}`", steps, seldom)


@dataclass(frozen=True, slots=True)
class _Met:
    """Where two ways are in the innermost function that they share. The first comes before the second there, or, with
    `loops`, in the turn before of one of these loops.
    """

    index: int
    at: int
    loops: frozenset[tuple[Scope, int]]


def _met(way: Way, other: Way) -> _Met | None:
    for index, waypoint in enumerate(way):
        for at, place in enumerate(other):
            if waypoint.scope is not place.scope:
                continue
            if waypoint.site < place.site:
                return _Met(index, at, frozenset())
            if waypoint.site == place.site:
                return None
            shared = [(waypoint.scope, set(waypoint.path) & set(place.path))]
            outer = zip(way[index + 1 :], other[at + 1 :], strict=False)
            shared += [
                (one.scope, set(one.path)) for one, two in outer if one.scope is two.scope and one.site == two.site
            ]
            loops = frozenset((scope, branch) for scope, arms in shared for branch, arm in arms if arm == "body")
            return _Met(index, at, loops) if loops else None
    return None


def _is_of_another_loader(program: Program, loader: Loader, met: _Met) -> bool:
    """Whether the next turn of the loop goes through a loader of its own, as for data that grow from turn to turn."""
    made = ways_to(program, loader.facts, loader.scope, loader.call.site)
    return any((one.scope, branch) in met.loops for way in made for one in way for branch, _ in one.path)


def _decided(program: Program, way: Way, index: int, beside: Waypoint | None) -> Iterator[tuple[str, int]]:
    """The options that decide in which turns of a loop a place of a way runs, each with the test that says so; those
    that decide the same of the place `beside` it do not count.
    """
    waypoint = way[index]
    frame = frame_without_callers(program.ev, waypoint.facts, waypoint.scope)
    own = set(beside.path) if beside is not None else set()
    for guard in _guards(program, waypoint, beside):
        if guard.arm in own or not _counts(waypoint.scope, guard.test):
            continue
        said = option_in(program.ev, guard.test, frame)
        if said is not None:
            yield said, guard.test.site


def _counts(scope: Scope, test: tree.Expr) -> bool:
    """Whether a test is about what counts the turns of a loop: `step % args.every == 0`, or `epoch > args.start`."""
    return any(
        (isinstance(node, tree.Binary) and node.op == "%")
        or (isinstance(node, tree.Name) and any(map(_is_a_counter, scope.bindings.get(node.id, ()))))
        for node in walk([test])
    )


def _is_a_counter(binding: Binding) -> bool:
    """Whether a loop over a range or an enumeration binds a name, or something is added to it: `step += 1`."""
    match binding.kind, binding.node:
        case "augmented", _:
            return True
        case "element", tree.Call(func=tree.Name(id="enumerate")):
            return binding.unpack == (0,)
        case "element", tree.Call() as iterated:
            return is_range(iterated)
    return False


def _guards(program: Program, waypoint: Waypoint, beside: Waypoint | None) -> Iterator[Guard]:
    """The tests around a place, and those by which its function may be left before it: not before one `beside` it."""
    place = _place(waypoint)
    yield from guards(program.ev, place)
    known = {id(one.test) for one in left_before(_place(beside))} if beside is not None else set()
    yield from (one for one in left_before(place) if id(one.test) not in known)


def _place(waypoint: Waypoint) -> Place:
    return Place(waypoint.facts, waypoint.scope, waypoint.path, Site(waypoint.facts.path, waypoint.site))
