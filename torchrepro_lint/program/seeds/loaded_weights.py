"""Models that get other weights after they are built, so that nothing of their first ones is left.

`load_state_dict` is looked for in the function that builds the model and in those that it comes through on its way to
the start of the program: `net = build()`, `net.load_state_dict(...)`. It may also be called by a function that the
model is handed to, or by a method of what holds it, where that calls it whatever its arguments are. What a training
has made of the first weights before is not lost with them: `train(net)`, `net.load_state_dict(best)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import call_sites, dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.core.objects import Objects
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Site,
)
from torchrepro_lint.program.programs.first_weights import building_calls, part_drawn
from torchrepro_lint.program.programs.turns import may_train
from torchrepro_lint.program.running.call_index import NamedCall, calls_in
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calls_at import called_at
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.running.ways import Way, runs_whenever, runs_with, ways
from torchrepro_lint.program.running.written_arguments import receiving_parameter
from torchrepro_lint.program.seeds.left_out_weights import leaves_some_out
from torchrepro_lint.program.seeds.reset_weights import sets_all_anew

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["are_loaded_over"]

_LOADS = "load_state_dict"


def are_loaded_over(program: Program, event: Event) -> bool:
    """Whether a program surely loads other weights into all of the model of which a draw makes the first ones, or into
    the part of it that the draw is for.
    """
    parts = part_drawn(program, event)
    sites = (*building_calls(program, event), *parts[:1])
    frames = {link.site: link.frame for link in event.chain}

    fills = _fills_a_parameter(program, event)

    def is_loaded_over(way: tuple[Site, ...]) -> bool:
        frame = frames.get(way[0])
        key = ("loaded over", way, frame, fills)
        return program.once(key, partial(_is_loaded_over, program, way, frame, fills=fills))

    ways = (*(sites[number:] for number in range(len(sites))), *((one,) for one in parts[1:]))
    return any(map(is_loaded_over, ways)) or program.once(
        ("loaded elsewhere", sites), partial(_is_loaded_elsewhere, program, sites)
    )


def _fills_a_parameter(program: Program, event: Event) -> bool:
    """Whether a draw is surely for parameters of a model, as those of a layer are, and not for a buffer or a mask."""
    name = canonical(event.name)
    if name.startswith("torch.nn.") or name.endswith("_"):
        return True
    if event.call is None or event.frame is None:
        return False
    around = parents_of(program.ev, event.frame.facts).around(event.call)
    return any(isinstance(one, tree.Call) and last_part(dotted_name(one.func) or "") == "Parameter" for one in around)


def _is_loaded_elsewhere(program: Program, sites: tuple[Site, ...]) -> bool:
    """Whether weights are surely loaded into what one of the calls returns, by whatever name it is reached, or into
    what may be anything.
    """
    built = [(place, call) for site in sites if (place := place_of(program.ev, site)) and (call := called_at(place))]
    # Of a call that gives several things, each model needs weights of its own.
    built = [(place, call) for place, call in built if not _parts_given(place.scope, call)]
    objects = Objects(program.ev, [call for _, call in built])
    made = {Site(place.facts.path, call.site) for place, call in built}
    files = {place.facts.path for place, _ in built}
    files = files.union(*(program.imports.together(path) for path in files))
    for path in sorted(set(program.project.containing(_LOADS)) & files):
        facts = program.project.facts(path)
        for one in calls_in(program.ev, facts, _LOADS) if facts is not None else ():
            if not isinstance(one.call.func, tree.Attribute) or not _follows(program, built, one):
                continue
            program.ev.begin_question()
            model = one.call.func.value
            if any(objects.of_any_caller(model, one.facts, one.scope)) or _may_be_one_of(program, model, one, made):
                if not leaves_some_out(program, one.facts, one.scope, one.call):
                    return True
    return False


def _may_be_one_of(program: Program, model: tree.Expr, load: NamedCall, made: Set[Site]) -> bool:
    """Whether an expression may be what is made at one of these places, in a file that holds one of them: elsewhere it
    may be the model of another program.
    """
    if load.facts.path not in {site.path for site in made}:
        return False
    found = {
        value for frame in program.ev.contexts(load.facts, load.scope) for value in program.ev.values(model, frame)
    }
    return UNKNOWN in found or any(isinstance(one, (ExternalObject, Instance)) and one.site in made for one in found)


def _follows(program: Program, built: Sequence[tuple[Place, tree.Call]], load: NamedCall) -> bool:
    """Whether a call surely runs where one of those does that build a model, before anything is trained. That it comes
    after it goes without saying: what it loads into is the model.
    """
    for place, call in built:
        if place.scope is load.scope:
            end = _end(program, place.facts, place.scope, call.site, place.arms)
            if call.site < load.call.site < end and _runs_before_training(program, place, call, load):
                return True
        elif load.call.site < _end(program, load.facts, load.scope, 0, ()):
            program.ev.begin_question()
            building = ways(program.ev, place.facts, place.scope, call.site)
            loading = ways(program.ev, load.facts, load.scope, load.call.site)
            if not runs_with(building, loading) and not _is_imported_by_all(program, building, loading):
                continue
            if not all(runs_whenever(way, building) for way in loading):
                continue
            if _is_before_training(program, building, loading):
                return True
    return False


def _is_imported_by_all(program: Program, building: Sequence[Way], loading: Sequence[Way]) -> bool:
    """Whether a model is built where a module is loaded, and all programs that load it load that in which the ways to
    another place begin.
    """
    if not loading or any(len(way) > 1 or way[0].scope.parent is not None or way[0].path for way in building):
        return False
    programs = {one.path for one in entry_points(program)}
    begins = {way[-1].facts.path for way in loading}
    homes = {way[-1].facts.path for way in building}
    above = {path for home in homes for path in program.imports.above(home) & programs}
    return bool(above) and homes.isdisjoint(begins) and all(begins <= program.imports.below(one) for one in above)


def _runs_before_training(program: Program, place: Place, built: tree.Call, load: NamedCall) -> bool:
    """Whether a call of the function that builds a model surely runs where that is trained or returned later: it is in
    no arm but those around the building, or all that trains and returns after the building is in its arms as well.
    """
    only_there = _without_loops(load.path, load.scope) - set(place.arms)
    if not only_there:
        return True
    trainings = [
        path
        for call, path in place.scope.calls
        if call.site > built.site
        and not _excludes(path, place.arms)
        and may_train(program, place.facts, place.scope, call)
    ]
    returns = [path for one, path in place.scope.returns if one.site > built.site and one.value is not None]
    return bool(trainings) and all(only_there <= set(path) for path in (*trainings, *returns))


def _without_loops(path: ArmPath, scope: Scope) -> set[tuple[int, str]]:
    """The arms around a place without the bodies of loops: a loop over a list that holds the model runs at least
    once.
    """
    return {step for step in path if step[0] not in scope.loops}


def _is_before_training(program: Program, building: Sequence[Way], loading: Sequence[Way]) -> bool:
    """Whether nothing is trained between a place and another on the ways to that. What a call on such a way trains, it
    does before or after what is further on the way.
    """
    starts = {id(one.scope): one.site for way in building for one in way}
    return all(
        one.site <= _end(program, one.facts, one.scope, starts.get(id(one.scope), 0), one.path)
        for way in loading
        for one in way
    )


def _is_loaded_over(program: Program, sites: tuple[Site, ...], frame: Frame | None, *, fills: bool) -> bool:
    """Whether what the first of the calls, which runs in `frame`, returns gets other weights; the others are on the way
    to the model in it. If it `fills` a parameter, a loop over all of these may set it anew.
    """
    place = place_of(program.ev, sites[0])
    call = called_at(place) if place is not None else None
    if place is None or call is None:
        return False
    scope = place.scope
    end = _end(program, place.facts, scope, call.site, place.arms)
    after = [
        one
        for one, arms in scope.calls
        if call.site < one.site < end and all(_runs(program, step, place, frame) for step in arms)
    ]
    names = {_without_self(name, scope) for name in (*scope.given_to(call), *_attributes_given(scope, call))}
    held = _held(program, sites[1:])
    loaded = {
        name
        for name in names
        if any(_loads_into(program, place, one, holder, held) for one in after for holder in _and_holders(name))
        or (fills and _is_set_anew(program, place, call, name))
    }
    return bool(loaded) and _parts_given(scope, call) <= loaded


def _runs(program: Program, step: tuple[int, str], place: Place, frame: Frame | None) -> bool:
    """Whether code in an arm surely runs where that at a place does."""
    if step in place.arms:
        return True
    return frame is not None and frame.scope is place.scope and program.ev.decide((step,), frame) is True


def _and_holders(name: str) -> Iterator[str]:
    """A name as it is written, and what holds the attribute that it names: `model.head`, `model`."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _end(program: Program, facts: ModuleFacts, scope: Scope, start: int, arms: ArmPath) -> int:
    """How far a function surely runs on from a place, whose arms these are, and trains nothing."""
    returns = (one.site for one, path in scope.returns if one.site > start and _may_follow(path, arms))
    trainings = (
        call.site
        for call, path in scope.calls
        if call.site > start and not _excludes(path, arms) and may_train(program, facts, scope, call)
    )
    return min(min(returns, default=END), min(trainings, default=END))


def _may_follow(path: ArmPath, arms: ArmPath) -> bool:
    """Whether an `if` decides that a place is come to, after one in these arms."""
    return not set(path) <= set(arms) and not _excludes(path, arms)


def _excludes(path: ArmPath, arms: ArmPath) -> bool:
    chosen = dict(arms)
    return any(chosen.get(branch, arm) != arm for branch, arm in path)


def _held(program: Program, sites: tuple[Site, ...]) -> Sequence[str]:
    """The attributes of an object under which it holds the model that is built on the way of these calls."""
    for site in sites:
        place = place_of(program.ev, site)
        call = called_at(place) if place is not None else None
        if place is not None and call is not None and place.scope.self_name is not None:
            names = place.scope.given_to(call)
            if names:
                return names
    return ()


def _attributes_given(scope: Scope, call: tree.Call) -> Iterator[str]:
    """The attributes of objects that get what a call returns, as they are written: `trainer.model = build()`."""
    for store in scope.stores:
        written = dotted_name(store.target)
        if written is not None and call.site in call_sites(store.value):
            yield written


def _parts_given(scope: Scope, call: tree.Call) -> set[str]:
    """The names that get one each of the things that a call returns: `encoder, decoder = build()`."""
    bindings = (binding for each in scope.bindings.values() for binding in each)
    return {_without_self(one.name, scope) for one in bindings if one.node is call and one.unpack}


def _loads_into(program: Program, place: Place, call: tree.Call, name: str, held: Sequence[str]) -> bool:
    """Whether a call loads weights into what a name or an attribute of the function's own object holds."""
    models = (name, *(f"{name}.{attribute}" for attribute in held))
    if isinstance(call.func, tree.Attribute) and _written(call.func.value, place.scope) in models:
        if _is_load(call):
            return not leaves_some_out(program, place.facts, place.scope, call)
        return _is_done_by(program, place, call, None, held)
    given = [arg for arg in call.args if _written(arg.value, place.scope) == name]
    return any(_is_done_by(program, place, call, arg, held) for arg in given)


def _is_set_anew(program: Program, place: Place, built: tree.Call, name: str) -> bool:
    """Whether a loop sets all parameters of what a name holds, or of what holds that, before anything is trained."""
    scope, holders = place.scope, set(_and_holders(name))
    end = _end(program, place.facts, scope, built.site, place.arms)
    return any(
        isinstance(one.func, tree.Attribute)
        and _written(one.func.value, scope) in holders
        and sets_all_anew(program, place, built, one)
        and _runs_before_training(program, place, built, NamedCall(place.facts, scope, one, path))
        for one, path in scope.calls
        if built.site < one.site < end
    )


def _is_done_by(program: Program, place: Place, call: tree.Call, given: tree.Arg | None, held: Sequence[str]) -> bool:
    """Whether a function that is called loads weights into an argument, or with None into the object it belongs to. Of
    one that cannot be followed, its name tells.
    """
    functions = [
        value.function if isinstance(value, MethodValue) else value
        for value in program.ev.values(call.func, frame_without_callers(program.ev, place.facts, place.scope))
        if isinstance(value, (FunctionValue, MethodValue))
    ]
    if not functions:
        return function_words("loads_weights").fullmatch(last_part(dotted_name(call.func) or "")) is not None
    return all(_always_loads(program, function, call, given, held) for function in functions)


def _always_loads(
    program: Program, function: FunctionValue, call: tree.Call, given: tree.Arg | None, held: Sequence[str]
) -> bool:
    """Whether a function loads weights into an argument, or its own object, or into the model that this holds."""
    scope, facts = program.ev.function_scope(function), function.frame.facts
    name = scope.self_name
    if given is not None and isinstance(scope.node, tree.FunctionDef):
        name = receiving_parameter(scope.node, call, given, skipped=scope.self_name is not None)
    loads = [inner for inner, path in scope.calls if not path and _is_load(inner)]
    if name is None or not loads:
        return False
    models = {name, *(f"{name}.{attribute}" for attribute in held)}
    end = _end(program, facts, scope, 0, ())
    return any(
        inner.site < end
        and isinstance(inner.func, tree.Attribute)
        and dotted_name(inner.func.value) in models
        and not leaves_some_out(program, facts, scope, inner)
        for inner in loads
    )


def _is_load(call: tree.Call) -> bool:
    return isinstance(call.func, tree.Attribute) and call.func.attr == _LOADS


def _written(node: tree.Expr, scope: Scope) -> str | None:
    """A chain of names as it is written; of what the function's own object holds, without that."""
    written = dotted_name(node)
    return _without_self(written, scope) if written is not None else None


def _without_self(name: str, scope: Scope) -> str:
    return name.removeprefix(f"{scope.self_name}.")
