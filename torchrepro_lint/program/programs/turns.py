"""What the turns of a loop are: whole runs, one after the other, or parts of one training that goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk, words_in
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.classes import external_bases, has_unknown_base, mro
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Value,
)
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.ops.tensor_values import is_network
from torchrepro_lint.program.programs.varying import varies_within
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import BASES_THAT_CALL_NOTHING, frame_without_callers
from torchrepro_lint.program.running.epochs import is_step, stepped_optimizer, takes_steps
from torchrepro_lint.program.running.saved_models import goes_through_saved_models, loads_in_calls
from torchrepro_lint.program.running.ways import Way, Waypoint

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = [
    "Turns",
    "goes_on_training",
    "is_of_one_turn",
    "may_train",
    "says_run",
    "trains_in_turn",
    "turns_of",
]

#: How deep the calls of a turn are followed to what makes the model, and to what trains it.
_MAX_DEPTH: Final = 4

_Calls: TypeAlias = tuple[tuple[ModuleFacts, Scope, tree.Call], ...]


class Turns(Enum):
    """What the turns of a loop are.

    `RUNS`: each is a run of its own, since it makes the model that it trains, or seeds torch with another number.
    `COPIES`: each trains a copy of a model from before, as the clients of federated learning do in one round.
    `PARTS`: they go on with one training. `SEEDED_PARTS`: as well, but each begins with another seed. `UNKNOWN`: what
    makes the model may lie deeper in calls than they are followed.
    """

    RUNS = "runs"
    COPIES = "copies"
    PARTS = "parts"
    SEEDED_PARTS = "seeded parts"
    UNKNOWN = "unknown"


def turns_of(program: Program, way: Way, index: int, loop: tree.For | tree.While | None) -> Turns:
    """What the turns of the loop at `way[index]` are, or the calls of what is handed over there (None)."""
    waypoint = way[index]
    is_seeded = False
    if loop is not None:
        where = program.ev, waypoint.facts, waypoint.scope, loop
        if goes_through_saved_models(*where):
            return Turns.RUNS
        if loads_in_calls(*where) and trains_in_turn(program, way, index, loop) is not True:
            return Turns.RUNS
        is_seeded = _seeds_anew(program, way, index, loop)
        if _steps_one_from_before(waypoint.scope, loop):
            return Turns.SEEDED_PARTS if is_seeded else Turns.PARTS
        if _says_part(loop):
            if _makes_both(program, waypoint, loop):
                return Turns.RUNS
            return Turns.SEEDED_PARTS if is_seeded else Turns.PARTS
        if is_seeded and not takes_steps(waypoint.scope, loop.site):
            return Turns.RUNS
    calls = _calls_of_turn(program.ev, way, index, loop)
    # What a run is called, its model may be made by what is not in sight: an optimizer speaks for it.
    is_run = isinstance(loop, tree.For) and says_run(loop)
    if loop is not None and not is_run:
        calls = tuple(one for one in calls if not _is_for_one_from_before(program.ev, one, waypoint.scope, loop))
    makes = _any(_makes_a_model(program, facts, scope, call, 0, trusts=is_run) for facts, scope, call in calls)
    if is_seeded:
        return Turns.RUNS if makes else Turns.SEEDED_PARTS
    if makes is False and is_run:
        steps = _steps(program, calls)
        return Turns.UNKNOWN if steps is None else Turns.PARTS if steps else Turns.RUNS
    if makes and not is_run and not _makes_a_new_one(program, calls):
        return Turns.COPIES
    return Turns.UNKNOWN if makes is None else Turns.RUNS if makes else Turns.PARTS


def _makes_a_new_one(program: Program, calls: _Calls) -> bool:
    """Whether one of the calls surely makes a network, or an optimizer for one, that is no copy of another network."""
    made = (_makes_a_model(program, facts, scope, call, 0, trusts=False, copies=False) for facts, scope, call in calls)
    return _any(made) is True


def _steps_one_from_before(scope: Scope, loop: tree.For | tree.While) -> bool:
    """Whether a loop itself takes steps of an optimizer that its turns do not make: what else is trained in one of its
    turns, a prompt for the model, belongs to the one training that goes on.
    """
    stepped = {stepped_optimizer(call) for call, path in scope.calls if _is_in(path, loop)}
    bound = (scope.bindings.get(name, ()) for name in stepped if name is not None)
    return any(bindings and not any(_is_in(one.path, loop) for one in bindings) for bindings in bound)


def _is_for_one_from_before(
    ev: Evaluator, called: tuple[ModuleFacts, Scope, tree.Call], scope: Scope, loop: tree.For | tree.While
) -> bool:
    """Whether a loop makes an optimizer for a network from before it: `for task in tasks: SGD(net.parameters())`."""
    facts, inner, call = called
    first = [call.args[0].value] if inner is scope and call.args else []
    names = {node.id for node in walk(first) if isinstance(node, tree.Name)}
    bound = [one for name in names for one in scope.bindings.get(name, ())]
    if not bound or any(one.kind != "assign" or one.order > call.site or _is_in(one.path, loop) for one in bound):
        return False
    made = ev.values(call, frame_without_callers(ev, facts, scope))
    return bool(made) and all(isinstance(one, ExternalObject) and "torch.optim." in one.name for one in made)


def goes_on_training(program: Program, way: Way, *, trusts: bool = True) -> bool:
    """Whether the functions of a way may take steps of an optimizer, for a model that none of them surely makes; with
    `trusts`, what makes an optimizer is taken to make the model.
    """
    calls = tuple((one.facts, one.scope, call) for one in way for call, _ in one.scope.calls)
    if _steps(program, calls) is False:
        return False
    return _any(_makes_a_model(program, *one, 0, trusts=trusts) for one in calls) is not True


def trains_in_turn(program: Program, way: Way, index: int, loop: tree.For | tree.While) -> bool | None:
    """Whether a turn of the loop at `way[index]` takes steps of a training; None where that may lie deeper in calls."""
    return _steps(program, _calls_of_turn(program.ev, way, index, loop))


def may_train(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether a call takes steps of a training or makes a whole one, itself or by what it calls in the project; found
    once for each call.
    """

    def find() -> bool:
        return _steps(program, ((facts, scope, call),), runs=True) is not False

    return program.once(("may train", facts.path, call.site), find)


def is_of_one_turn(waypoint: Waypoint, loop: tree.For | tree.While) -> bool:
    """Whether a loop has one turn, `for epoch in [args.epoch]`, or reaches a place in exactly one of its turns, that in
    which its key has a constant value: `for phase, options in datasets.items(): if phase == "train"`.
    """
    match waypoint.scope.behind(loop.iter) if isinstance(loop, tree.For) else None:
        case tree.Display(items=(only,)) if not isinstance(only, tree.Starred):
            return True
    match loop:
        case tree.For(target=target, iter=tree.Call(func=tree.Attribute(attr="items" | "keys"), args=())):
            keys = target.items[:1] if isinstance(target, tree.Display) else (target,)
        case tree.For(target=target, iter=tree.Display(items=items)) if _are_different(items):
            keys = (target,)
        case _:
            return False
    names = {key.id for key in keys if isinstance(key, tree.Name)}
    inside = False
    for branch, arm in waypoint.path:
        match waypoint.scope.branches.get(branch):
            case tree.If(
                test=tree.Compare(left=tree.Name(id=name), ops=("==",), comparators=(tree.Const(value=str()),))
            ) if inside and arm == "then" and name in names:
                return True
        inside = inside or branch == loop.site
    return False


def _are_different(items: Sequence[tree.Expr]) -> bool:
    values = [item.value for item in items if isinstance(item, tree.Const)]
    return len(set(values)) == len(items)


def _seeds_anew(program: Program, way: Way, index: int, loop: tree.For | tree.While) -> bool:
    """Whether each turn seeds torch with another number, or with one that the system gives."""
    scope = way[index].scope
    return any(
        "torch" in one.seeds
        and any(
            at.scope is scope
            and any(branch == loop.site for branch, _ in at.path)
            and (one.value is None or varies_within(program.ev, seeding, place, one.value))
            for seeding in ways_of(program, one)
            for place, at in enumerate(seeding)
        )
        for one in program.evidence_of("seed")
    )


def _calls_of_turn(ev: Evaluator, way: Way, index: int, loop: tree.For | tree.While | None) -> _Calls:
    """The calls in the body of the loop, and in the functions that the way comes through below it."""
    outer = way[index]
    within = [(outer.facts, outer.scope, call) for call, path in outer.scope.calls if loop and _is_in(path, loop)]
    below = [(one.facts, one.scope, call) for one in way[:index] for call, _ in one.scope.calls]
    return (*within, *below)


def _is_in(path: tuple[tuple[int, str], ...], loop: tree.For | tree.While) -> bool:
    return any(branch == loop.site and arm == "body" for branch, arm in path)


def _makes_both(program: Program, waypoint: Waypoint, loop: tree.For | tree.While) -> bool:
    """Whether a loop itself makes a network and an optimizer for it in each turn: whatever it counts, that is a run."""
    frame = frame_without_callers(program.ev, waypoint.facts, waypoint.scope)
    direct = [call for call, path in waypoint.scope.calls if path and path[-1] == (loop.site, "body")]
    made = [value for call in direct for value in program.ev.values(call, frame) if _is_model(program.ev, value)]
    optimizers = sum(isinstance(one, ExternalObject) and one.name.startswith("torch.optim.") for one in made)
    return 0 < optimizers < len(made)


def _says_part(loop: tree.For | tree.While) -> bool:
    """Whether a loop says that its turns are parts of one training."""
    part = function_words("part_of_a_training")
    match loop:
        case tree.For(target=target, iter=iterated):
            return any(part.search(name) for name in words_in([target])) or (
                not says_run(loop) and any(part.search(name) for name in words_in([iterated]))
            )
        case tree.While(test=test):
            return any(part.search(name) for name in words_in([test]))
    return False


def says_run(loop: tree.For) -> bool:
    """Whether what a loop goes through is said to be runs, one after the other: `for fold in folds`."""
    return any(function_words("repeats_a_run").search(name) for name in words_in([loop.target]))


def _makes_a_model(
    program: Program,
    facts: ModuleFacts,
    scope: Scope,
    call: tree.Call,
    depth: int,
    *,
    trusts: bool = True,
    copies: bool = True,
) -> bool | None:
    """Whether a call makes a network or an optimizer, or gives a network new weights, itself or by what it calls in the
    project; None where that may lie deeper than calls are followed. With `trusts` also an optimizer for a network that
    its function is given: each round of federated learning makes one, and goes on with the network. With `copies` also
    a copy of a network, and an optimizer for it.
    """
    ev = program.ev
    if called_name(call.func) in method_words("starts_anew"):
        return True
    frame = frame_without_callers(ev, facts, scope)
    made = [value for value in ev.values(call, frame) if _is_model(ev, value)]
    if not trusts and _is_for_what_is_given(scope, call):
        made = [value for value in made if _has_weights_of_its_own(value)]
    if made and (copies or not _is_of_a_copy(scope, call)):
        passing = method_words("same_module") | method_words("same_module", "with_a_function")
        return called_name(call.func) not in passing
    entered = [one for value in ev.values(call.func, frame) for one in _entered(ev, value)]
    if depth == _MAX_DEPTH:
        return None if entered else False
    return _any(_makes_within(program, inner_facts, inner, depth + 1, trusts, copies) for inner_facts, inner in entered)


def _makes_within(
    program: Program, facts: ModuleFacts, scope: Scope, depth: int, trusts: bool, copies: bool
) -> bool | None:
    """Whether a function makes a network or an optimizer; asked once for each depth of calls."""

    def find() -> bool | None:
        found = (
            _makes_a_model(program, facts, scope, call, depth, trusts=trusts, copies=copies) for call, _ in scope.calls
        )
        return _any(found)

    return program.once(("makes a model", id(scope), depth, trusts, copies), find)


def _is_of_a_copy(scope: Scope, call: tree.Call) -> bool:
    """Whether a call copies an object, `copy.deepcopy(model)`, or is for what a name of the function is such a copy of:
    `SGD(local_model.parameters())`.
    """
    if _is_copy(call):
        return True
    names = {node.id for node in walk([call.args[0].value]) if isinstance(node, tree.Name)} if call.args else set()
    return bool(names) and all(
        (bindings := scope.bindings.get(name))
        and all(isinstance(one.node, tree.Call) and any(map(_is_copy, walk([one.node]))) for one in bindings)
        for name in names
    )


def _is_copy(node: tree.Expr) -> bool:
    return isinstance(node, tree.Call) and called_name(node.func) in method_words("copies")


def _is_for_what_is_given(scope: Scope, call: tree.Call) -> bool:
    """Whether the first argument of a call is made of parameters of its function alone: `SGD(model.parameters())`."""
    names = {node.id for node in walk([call.args[0].value]) if isinstance(node, tree.Name)} if call.args else set()
    return bool(names) and all(
        (bindings := scope.bindings.get(name)) and all(one.kind == "param" for one in bindings) for name in names
    )


def _has_weights_of_its_own(value: Value) -> bool:
    """Whether a value is a layer of torch that draws its first weights: what it is given says their sizes."""
    return isinstance(value, ExternalObject) and any(effect.rng == "torch" for effect in rng_effects(value.name))


def _any(answers: Iterable[bool | None]) -> bool | None:
    """Whether one of the answers is yes; None if none is, and one of them is not known."""
    is_open = False
    for answer in answers:
        if answer:
            return True
        is_open = is_open or answer is None
    return None if is_open else False


def _is_model(ev: Evaluator, value: Value) -> bool:
    if isinstance(value, ExternalObject) and value.name.startswith("torch.optim."):
        is_class = last_part(value.name)[:1].isupper()
        return is_class and not value.name.startswith(("torch.optim.lr_scheduler", "torch.optim.swa_utils"))
    if isinstance(value, Instance) and _has_no_weights(ev, value.cls):
        return False
    return is_network(ev, value) and not (isinstance(value, ExternalObject) and value.name.endswith("Loss"))


def _has_no_weights(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether the objects of a `torch.nn.Module` of the project surely have nothing to train: losses, running means."""
    return ev.remembered(("has no weights", cls.node, cls.frame), lambda: _find_no_weights(ev, cls), False)


def _find_no_weights(ev: Evaluator, cls: ClassValue) -> bool:
    if not BASES_THAT_CALL_NOTHING.issuperset(external_bases(ev, cls)) or has_unknown_base(ev, cls):
        return False
    for one in (known for known in mro(ev, cls) if isinstance(known, ClassValue)):
        facts = one.frame.facts
        for scope in facts.scope_of(one.node).children:
            frame = frame_without_callers(ev, facts, scope)
            for call, _ in scope.calls:
                if called_name(call.func) in method_words("gives_weights"):
                    return False
                made = ev.values(call, frame)
                if any(_is_model(ev, value) for value in made):
                    return False
                if not ev.values(call.func, frame) and (called_name(call.func) or "")[:1].isupper():
                    return False  # a class that is out of sight
    return True


def _entered(ev: Evaluator, value: Value) -> Iterator[tuple[ModuleFacts, Scope]]:
    """The function of the project that a call of a value runs."""
    match value:
        case MethodValue(function=inner):
            yield from _entered(ev, inner)
        case FunctionValue():
            yield value.frame.facts, ev.function_scope(value)
        case ClassValue(frame=frame, node=node):
            cls = frame.facts.scope_of(node)
            yield from ((frame.facts, one) for one in cls.children if one.name == "__init__")


def _steps(program: Program, calls: _Calls, depth: int = 0, *, runs: bool = False) -> bool | None:
    """Whether any of the calls takes a step of a training (with `runs`, or makes a whole one), or calls what does so in
    the project; None where that may lie deeper than calls are followed.
    """
    whole = method_words("training_steps", "runs") if runs else frozenset()
    if any(is_step(call) or called_name(call.func) in whole for _, _, call in calls):
        return True
    entered = (
        one
        for facts, scope, call in calls
        for value in program.ev.values(call.func, frame_without_callers(program.ev, facts, scope))
        for one in _entered(program.ev, value)
    )
    if depth == _MAX_DEPTH:
        return None if any(True for _ in entered) else False
    return _any(_steps_within(program, facts, scope, depth + 1, runs=runs) for facts, scope in entered)


def _steps_within(program: Program, facts: ModuleFacts, scope: Scope, depth: int, *, runs: bool) -> bool | None:
    """Whether a function takes a step of a training; asked once for each depth of calls."""
    calls = tuple((facts, scope, call) for call, _ in scope.calls)
    return program.once(("takes a step", id(scope), depth, runs), lambda: _steps(program, calls, depth, runs=runs))
