"""What draws in training alone, a layer or what stands under `if self.training:`, in a model that a program has
switched to evaluation before it runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.program.evaluation.values import ClassValue, External, FunctionValue, Site, Value
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calls_at import called_at
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.if_tests import says, tests_around
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_switched_off"]

_IN_TRAINING = re.compile(r"torch\.nn\.(?:\w*Dropout\w*|RReLU)\.(?:__call__|forward)")
#: Methods of a module that give it back, as it is.
_GIVE_BACK = frozenset({"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_"})
_MAX_DEPTH = 3
_TRAINING = re.compile(r"^training$")


def is_switched_off(program: Program, event: Event) -> bool:
    """Whether a draw is of a layer that draws in training alone, or stands where the model is in training, and a model
    that is called on the way to it, or handed on, was switched to evaluation before.
    """
    if _IN_TRAINING.fullmatch(event.name) is None and not _stands_in_training(program, event):
        return False
    sites = [link.site for link in event.chain if link.note.startswith("calls ")]
    return any(program.once(("runs an evaluation", site), partial(_evaluates, program, site)) for site in sites)


def _stands_in_training(program: Program, event: Event) -> bool:
    """Whether a draw, or a call on the way to it, only runs where a model is in training: under `if self.training:`, or
    below `if not self.training: return mean`.
    """
    sites = (event.site, *(link.site for link in event.chain if link.note.startswith("calls ")))
    places = (place for site in sites if (place := place_of(program.ev, site)) is not None)
    return any(says(test, holds, _TRAINING) is True for place in places for test, holds in _tests_before(place))


def _tests_before(place: Place) -> Iterator[tuple[tree.Expr, bool]]:
    """The tests of the `if` statements around a place, and of those above it whose arm leaves its function, each with
    whether it holds where the run comes to the place.
    """
    scope = place.scope
    yield from tests_around(scope, place.arms)
    around = dict(place.arms)
    for (branch, arm), exits in scope.ended.items():
        statement = scope.branches.get(branch)
        if "leaves" in exits and branch < place.site.number and branch not in around and isinstance(statement, tree.If):
            yield statement.test, arm != "then"


def _evaluates(program: Program, site: Site) -> bool:
    place = place_of(program.ev, site)
    call = called_at(place) if place is not None else None
    if place is None or call is None:
        return False
    called = call.func.value if isinstance(call.func, tree.Attribute) else call.func
    return any(_is_in_evaluation(program, place, model, 0) for model in (called, *(arg.value for arg in call.args)))


def _is_in_evaluation(program: Program, place: Place, model: tree.Expr, depth: int) -> bool:
    """Whether an expression gives, at a place of its scope, a module in evaluation mode, or may where it comes out of
    more calls of functions than are followed.
    """
    match model:
        case tree.Call(func=tree.Attribute(attr="eval")):
            return True
        case tree.Call(func=tree.Attribute(attr=method, value=owner)) if method in _GIVE_BACK:
            return _is_in_evaluation(program, place, owner, depth)
        case tree.Call(func=func):
            made = program.ev.values(func, frame_without_callers(program.ev, place.facts, place.scope))
            return bool(made) and all(
                isinstance(function, FunctionValue)
                and (depth == _MAX_DEPTH or _gives_evaluation(program, function, depth + 1))
                for function in made
            )
        case tree.Display(items=items) if items:
            return all(_is_in_evaluation(program, place, item, depth) for item in items)
        case tree.Comprehension(element=element):
            return _is_in_evaluation(program, place, element, depth)
        case tree.Name() | tree.Attribute():
            last = _last_switch(program, place, dotted_name(model))
            behind = place.scope.behind(model)
            if last is not None:
                return last == "eval"
            if isinstance(behind, tree.Display) and not behind.items:
                return _is_filled_in_evaluation(program, place, dotted_name(model), depth)
            return behind is not model and _is_in_evaluation(program, place, behind, depth)
    return False


def _is_filled_in_evaluation(program: Program, place: Place, name: str | None, depth: int) -> bool:
    """Whether all that is put into an empty list before a place is in evaluation mode when it is put there."""
    touches = [touch for touch in place.scope.touches(name or "") if touch.site < place.site.number]
    return bool(touches) and all(
        touch.method == "append"
        and isinstance(touch.made, tree.Call)
        and _is_in_evaluation(
            program,
            Place(place.facts, place.scope, touch.path, Site(place.facts.path, touch.site)),
            touch.made.args[0].value,
            depth,
        )
        for touch in touches
    )


def _gives_evaluation(program: Program, function: FunctionValue, depth: int) -> bool:
    scope, facts = program.ev.function_scope(function), function.frame.facts
    given = [
        (one.value, Place(facts, scope, arms, Site(facts.path, one.site)))
        for one, arms in scope.returns
        if one.value is not None
    ]
    return bool(given) and all(_is_in_evaluation(program, place, value, depth) for value, place in given)


def _last_switch(program: Program, place: Place, name: str | None) -> str | None:
    """The method that was last called, on the way to a place, to switch what a name stands for, or an object that was
    made from that: an `eval` counts if it surely runs, a `train` if it may.
    """
    last = None
    for call, arms in place.scope.calls:
        match call.func:
            case tree.Attribute(attr="eval" | "train" as method, value=owner) if call.site < place.site.number:
                if method == "eval" and not set(arms) <= set(place.arms):
                    continue
                if name is not None and (dotted_name(owner) == name or _is_made_from(program, place, owner, name)):
                    last = method
    return last


def _is_made_from(program: Program, place: Place, owner: tree.Expr, name: str) -> bool:
    """Whether an object was made from what a name stands for, and so holds it: `model = Model(encoder, decoder)`."""
    made = place.scope.behind(owner)
    while isinstance(made, tree.Call) and isinstance(made.func, tree.Attribute) and made.func.attr in _GIVE_BACK:
        made = made.func.value
    if not isinstance(made, tree.Call) or all(dotted_name(arg.value) != name for arg in made.args):
        return False
    values = program.ev.values(made.func, frame_without_callers(program.ev, place.facts, place.scope))
    return bool(values) and all(map(_makes_a_module, values))


def _makes_a_module(value: Value) -> bool:
    return isinstance(value, ClassValue) or (isinstance(value, External) and value.name.startswith("torch.nn."))
