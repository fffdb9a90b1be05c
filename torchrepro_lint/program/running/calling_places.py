"""Where functions are called and objects made: the places alone, without the frames in which they run.

Who calls the callers is asked only where a place leaves it open what it calls, or whether the run comes to it at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import ClassValue, Value
from torchrepro_lint.program.running.call_index import NamedCall, calls_making
from torchrepro_lint.program.running.callers import (
    MAX_CONTEXTS,
    frame_without_callers,
    frames_meaning,
    is_class,
    is_meant,
)
from torchrepro_lint.program.running.indirect_calls import any_calls_of, calls_function
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["MANY", "calling_places", "making_places"]

#: For questions where no place may be missed: a hundred examples call one helper to seed them.
MANY = 256


def calling_places(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, most: int = MAX_CONTEXTS, *, reached: bool = True
) -> tuple[NamedCall, ...]:
    """The calls in the project whose callee can be the function of this scope: the first of them, `most` at most.

    With `reached`, conditions that keep the run from a call are heeded, also those that only the callers decide. To
    leave them aside takes far less time.
    """

    def find() -> tuple[NamedCall, ...]:
        if not isinstance(scope.node, tree.FunctionDef):
            return ()  # nothing calls a lambda by a name of its own
        places = _places(ev, any_calls_of(ev, facts, scope), partial(calls_function, ev, scope), reached)
        return tuple(islice(places, most))

    return ev.remembered(("calling-places", id(scope), most, reached), find, ())


def making_places(ev: Evaluator, cls: ClassValue, most: int = MAX_CONTEXTS) -> tuple[NamedCall, ...]:
    """The calls in the project that can make an object of the class or of a subclass, as many."""

    def find() -> tuple[NamedCall, ...]:
        wanted = partial(is_class, ev, cls)
        places = tuple(islice(_places(ev, calls_making(ev, cls), wanted, True), most))
        return places or tuple(islice(_places(ev, _calls_of_a_table(ev, cls), wanted, True), most))

    return ev.remembered(("making-places", cls.node, cls.frame, most), find, ())


def _calls_of_a_table(ev: Evaluator, cls: ClassValue) -> Iterator[NamedCall]:
    """The calls in the file of a class of what is looked up there, where a dict of that file holds the class or a
    decorator may put it into one: `NETS[name](width)`, `make = NETS.get(name)`.
    """
    facts = cls.frame.facts
    parents = parents_of(ev, facts)
    is_held = any(isinstance(parents.of(use), tree.DictDisplay) for use in parents.reads(cls.name))
    if not is_held and not cls.node.decorators:
        return
    for scope in facts.walk_scopes():
        for call, path in scope.calls:
            if _is_looked_up(scope, call.func):
                yield NamedCall(facts, scope, call, path)


def _is_looked_up(scope: Scope, func: tree.Expr) -> bool:
    match func:
        case tree.Subscript() | tree.Call(func=tree.Attribute(attr="get")):
            return True
        case tree.Name(id=name):
            bound = (one.node for one in scope.bindings.get(name, ()) if one.kind == "assign")
            return any(not isinstance(node, tree.Name) and _is_looked_up(scope, node) for node in bound)  # type: ignore[arg-type]
    return False


def _places(
    ev: Evaluator, calls: Iterable[NamedCall], wanted: Callable[[Value], bool], reached: bool
) -> Iterator[NamedCall]:
    for one in calls:
        meant = is_meant(ev, one, wanted)
        comes = _is_reached(ev, one) if reached and meant is not False else True
        if meant is False or comes is False:
            continue
        if (meant and comes) or any(True for _ in frames_meaning(ev, one, wanted)):
            yield one


def _is_reached(ev: Evaluator, one: NamedCall) -> bool | None:
    """Whether the run comes to a call; None where that may depend on the callers of the scope, as the call is in an arm
    that the scope alone does not decide.
    """
    alone = frame_without_callers(ev, one.facts, one.scope)
    if not ev.may_run(one.call.site, one.path, alone):
        return False
    arms = [arm for arm in one.path if isinstance(one.scope.branches.get(arm[0]), (tree.If, tree.Match))]
    return None if arms and ev.decide(tuple(arms), alone) is None else True
