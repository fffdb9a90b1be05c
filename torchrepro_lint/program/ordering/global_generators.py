"""Where torch's global generator is passed as a generator of one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Constant,
    External,
    ExternalObject,
    Instance,
    MemberOf,
    Site,
    Unknown,
    Value,
)
from torchrepro_lint.program.intent.kept_states import is_undone
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers, is_open
from torchrepro_lint.program.running.handed_parameters import may_be_handed
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.ways import ways

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["GlobalGenerator", "global_generators"]

_GLOBAL: Final = "torch.default_generator"
_WORDS: Final = re.compile(rb"(?<!\w)(?:generator\s*=|default_generator)|(?:random_split|Sampler)\(")
#: Classes, whose objects draw later than they are made.
_KEEPS: Final = re.compile(r"\.[A-Z]\w*$")
#: The finding stands where the generator is passed, or where a call gives it.
_MADE: Final = re.compile(_WORDS.pattern + rb"|seed|Generator")


@dataclass(frozen=True, slots=True, eq=False)
class GlobalGenerator:
    """One use of the global generator as a generator: the argument, and the expression that gives it."""

    use: Site
    made: Site
    by_seeding: bool
    frame: Frame


def global_generators(program: Program) -> Iterator[GlobalGenerator]:
    """The places that give the global generator where a generator is passed, in the order of files and text."""
    if not program.asked_with(_MADE):
        return
    for path in program.project.matching(_WORDS):
        facts = program.facts(path)
        if facts is None:
            continue
        found: dict[Site, GlobalGenerator] = {}
        for scope in facts.walk_scopes():
            for one in _in_scope(program, facts, scope):
                found.setdefault(one.made, one)
        yield from (found[site] for site in program.asked_in_order(found))


def _in_scope(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[GlobalGenerator]:
    ev = program.ev
    for call, arms in scope.calls:
        if not any(arg.keyword == "generator" for arg in call.args) and not _takes_it_by_position(call):
            continue
        ev.begin_question()
        alone = frame_without_callers(ev, facts, scope)
        if not _may_be_given_it(program, call, alone) or _is_left_to_callers(program, call, alone):
            continue
        for frame in contexts(ev, facts, scope):
            if not ev.may_run(call.site, arms, frame):
                continue
            arg = _generator_argument(program, call, frame)
            made = [] if arg is None else [value for value in ev.values(arg.value, frame) if not _is_none(value)]
            if arg is None or not made or not all(_is_global(value) for value in made):
                continue
            if not _is_known(program, call, frame):
                continue
            if _is_used_up(program, call, arg, frame) or _is_as_without(program, call, made, frame):
                continue
            if _is_kept_to_itself(program, arg, frame):
                continue
            use = Site(facts.path, arg.value.site)
            sites = {value.site for value in made if isinstance(value, ExternalObject) and value.site is not None}
            site = min(sites, key=lambda one: (str(one.path), one.number)) if sites else use
            if sites and _is_put_back(program, facts, scope, call):
                continue
            yield GlobalGenerator(use, site, bool(sites), frame)


_BY_POSITION: Final = re.compile(r"random_split|\w*Sampler")


def _takes_it_by_position(call: tree.Call) -> bool:
    """A quick look at the name of what is called."""
    return _BY_POSITION.fullmatch(called_name(call.func) or "") is not None and bool(call.args)


def _may_be_given_it(program: Program, call: tree.Call, alone: Frame) -> bool:
    """A quick check that does not follow the callers of the scope: whether the call may get the global generator."""
    arg = _generator_argument(program, call, alone)
    if arg is None:
        return is_open(program.ev, call.func, alone)
    return may_be_handed(program.ev, arg.value, alone, _is_global)


def _is_left_to_callers(program: Program, call: tree.Call, alone: Frame) -> bool:
    """Whether the call passes on a parameter that has the global generator as its default, as torch's own functions
    have, or one of an object's `__call__`: the callers decide.
    """
    arg = _generator_argument(program, call, alone)
    if arg is None or not isinstance(arg.value, tree.Name):
        return False
    owner = alone.scope.binder(arg.value.id)
    return owner is alone.scope and any(
        isinstance(one.node, tree.Param)
        and (owner.name == "__call__" or _is_global_by_default(program, one.node, alone.parent or alone))
        for one in owner.bindings[arg.value.id]
    )


def _is_global_by_default(program: Program, param: tree.Param, outside: Frame) -> bool:
    return param.default is not None and any(map(_is_global, program.ev.values(param.default, outside)))


def _is_known(program: Program, call: tree.Call, frame: Frame) -> bool:
    """Whether something tells what takes the generator: the object of another package that is called makes of it what
    it likes, such as the pictures of a prompt.
    """
    return any(
        not isinstance(value, (Unknown, ExternalObject, MemberOf)) for value in program.ev.values(call.func, frame)
    )


def _is_used_up(program: Program, call: tree.Call, arg: tree.Arg, frame: Frame) -> bool:
    """Whether the generator is seeded in the argument itself, for a call that draws at once and keeps nothing of it, a
    function of torch or the `__call__` of an object (a pipeline): no other draw comes between.
    """
    if not isinstance(arg.value, tree.Call):
        return False
    here = program.ev.site(arg.value, frame)
    given = program.ev.values(arg.value, frame)
    if any(
        isinstance(value, External) or (isinstance(value, ExternalObject) and value.site != here) for value in given
    ):
        return False  # what a call only returns was seeded elsewhere, or not
    called = program.ev.values(call.func, frame)
    return bool(called) and all(isinstance(value, Instance) or _draws_at_once(value) for value in called)


def _is_kept_to_itself(program: Program, arg: tree.Arg, frame: Frame) -> bool:
    """Whether the generator is seeded for a name of the function, all of whose uses draw at once there, and nothing
    else that may draw is called from the seed to the last of them.
    """
    facts, scope = frame.facts, frame.scope
    if not isinstance(arg.value, tree.Name) or scope.parent is None:
        return False
    bindings = scope.bindings.get(arg.value.id, [])
    if len(bindings) != 1 or bindings[0].kind != "assign" or not isinstance(bindings[0].node, tree.Call):
        return False
    made, parents = bindings[0].node, parents_of(program.ev, facts)
    here = program.ev.site(made, frame)
    if any(not isinstance(one, ExternalObject) or one.site != here for one in program.ev.values(made, frame)):
        return False  # what a call only returns was seeded elsewhere
    uses = list(binding_uses(parents, facts, scope, bindings[0]))
    draws = {above.site for use, at in uses if at is scope and (above := _given_to(parents, use)) is not None}
    loops = _loops(parents, made)
    if len(draws) < len(uses) or any(_loops(parents, use) != loops for use, _ in uses):
        return False
    return all(
        _draws_at_once(value) if call.site in draws else _draws_never(value)
        for call, _ in scope.calls
        if made.site < call.site <= max(draws)
        for value in program.ev.values(call.func, frame) or (UNKNOWN,)
    )


def _given_to(parents: Parents, use: tree.Name) -> tree.Call | None:
    """The call that a name is an argument of."""
    argument = parents.of(use)
    above = parents.of(argument) if isinstance(argument, tree.Arg) else None
    return above if isinstance(above, tree.Call) else None


def _loops(parents: Parents, node: tree.Expr) -> list[int]:
    return [one.site for one in parents.around(node) if isinstance(one, tree.For | tree.While | tree.Comprehension)]


def _draws_never(value: Value) -> bool:
    return isinstance(value, External) and not rng_effects(value.name)


def _is_as_without(program: Program, call: tree.Call, made: list[Value], frame: Frame) -> bool:
    """Whether a call that draws at once, and that splits nothing, names the global generator where that is its default:
    `torch.rand(3, generator=torch.default_generator)`.
    """
    if any(isinstance(value, ExternalObject) for value in made):
        return False
    called = program.ev.values(call.func, frame)
    return bool(called) and all(_draws_at_once(value) and not _parts_data(value) for value in called)


def _parts_data(value: Value) -> bool:
    return isinstance(value, External) and last_part(value.name) in ("random_split", "randperm")


def _draws_at_once(value: Value) -> bool:
    if not isinstance(value, External) or _KEEPS.search(value.name):
        return False
    return any(effect.kind == "draw" and effect.moment == "call" for effect in rng_effects(value.name))


def _is_put_back(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether the state of the generator is saved before and put back after, on every way to the call."""
    to_call = ways(program.ev, facts, scope, call.site)
    return all(any(is_undone(program.ev, waypoint.scope, waypoint.site) for waypoint in way) for way in to_call)


def _generator_argument(program: Program, call: tree.Call, frame: Frame) -> tree.Arg | None:
    for arg in call.args:
        if arg.keyword == "generator":
            return arg
    if any(arg.star for arg in call.args):
        return None
    positional = [arg for arg in call.args if arg.keyword is None]
    for value in program.ev.values(call.func, frame):
        if isinstance(value, External):
            for effect in rng_effects(value.name):
                parameter = effect.generator_parameter
                if parameter is not None and parameter.name == "generator" and parameter.position is not None:
                    if parameter.position < len(positional):
                        return positional[parameter.position]
    return None


def _is_global(value: Value) -> bool:
    return isinstance(value, (External, ExternalObject)) and canonical(value.name) == _GLOBAL


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None
