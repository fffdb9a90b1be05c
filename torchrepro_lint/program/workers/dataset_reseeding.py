"""Whether a worker init function gives the random objects of the dataset a seed of the worker's own.

What it does to `get_worker_info().dataset` cannot be followed as a value, since torch makes that object. That it goes
to the dataset at all is taken for the sign: nothing else is done there in practice than reseeding and sharding. Where
it goes to certain attributes only (`dataset.rng = ...`), it is a sign for what these hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.loaders import init_function
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    Constant,
    External,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    Value,
    Values,
    unknown,
)
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.running.guards import mentions
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.workers.dataset_paths import dataset_paths

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["init_events", "init_values", "leaves_alone", "reaches_dataset"]

_DATASET = frozenset({"dataset"})
_MAX_DEPTH = 3


def init_values(program: Program, loader: Loader) -> Values:
    """What the worker init function can be; for a subclass also what it assigns to its attribute of that name."""
    values = loader.value("worker_init_fn")
    if loader.cls is not None:
        made = Instance(loader.cls, None, loader.made_by or loader.site)
        own = program.ev.attribute(made, "worker_init_fn")
        values |= frozenset(value for value in own if isinstance(value, (FunctionValue, MethodValue, Partial)))
    return values


def init_events(program: Program, loader: Loader) -> tuple[Event, ...]:
    """What happens when the init function runs in a worker."""
    return program.walker.calling(init_values(program, loader), Arguments((unknown(),)))


def reaches_dataset(program: Program, loader: Loader) -> bool:
    """Whether the worker init function reaches the dataset of its worker, or may: one that cannot be followed does."""
    values = init_values(program, loader)
    if loader.may_lack("worker_init_fn") and not any(_is_function(value) for value in values):
        return False
    return any(_reaches(program.ev, value, 0) for value in values)


def leaves_alone(program: Program, loader: Loader, is_held: Callable[[Value], bool]) -> bool:
    """Whether the worker init function goes to attributes of the dataset, and none of them leads to what is held."""
    paths = dataset_paths(program.ev, loader.value("dataset"), is_held)
    values = init_values(program, loader)
    if not paths or not values:
        return False
    for value in values:
        words = _attributes_of_dataset(program.ev, value) if isinstance(value, FunctionValue) else None
        if words is None or any(not words.isdisjoint(path.split(".")) for path in paths):
            return False
    return True


def _attributes_of_dataset(ev: Evaluator, function: FunctionValue) -> frozenset[str] | None:
    """The words of the attributes of the dataset to which a function goes; None where it does anything else with the
    dataset: passes it on, or calls a method of it.
    """
    parents = parents_of(ev, function.frame.facts)

    def inside(found: Iterable[tree.Expr]) -> list[tree.Expr]:
        return [one for one in found if parents.function(one) is function.node]

    pending = inside(parents.attributes.get("dataset", ()))
    words: set[str] = set()
    for dataset in pending:  # it grows on the way
        target = parents.target_of(dataset)
        if isinstance(target, tree.Name):
            pending += inside(one for one in parents.names[target.id] if one is not target)
            continue
        above = parents.of(dataset)
        if not isinstance(above, tree.Attribute) or isinstance(parents.of(above), tree.Call):
            return None
        while isinstance(above, tree.Attribute):
            words.add(above.attr)
            above = parents.of(above)
    return frozenset(words) or None


def _is_function(value: Value) -> bool:
    return isinstance(value, (FunctionValue, MethodValue, Partial, Instance))


def _reaches(ev: Evaluator, value: Value, depth: int) -> bool:
    match value:
        case FunctionValue():
            return _body_reaches(ev, value, depth)
        case MethodValue(function=function):
            return _body_reaches(ev, function, depth)
        case Partial(function=functions):
            return any(_reaches(ev, inner, depth) for inner in functions)
        case Instance():
            return any(_reaches(ev, method, depth) for method in ev.attribute(value, "__call__"))
        case External(name=name):
            known = init_function(name)
            return "own" in known.seeds if known is not None else depth == 0
        case Constant():
            return False
    return depth == 0 and value is UNKNOWN


def _body_reaches(ev: Evaluator, function: FunctionValue, depth: int) -> bool:
    scope = ev.function_scope(function)
    if mentions(_expressions(scope), _DATASET):
        return True
    frame = Frame(function.frame.facts, scope, function.frame)
    called = (value for call, _ in scope.calls for value in ev.values(call.func, frame))
    if depth >= _MAX_DEPTH:
        return any(_is_function(value) for value in called)  # what these do is not known
    return any(_reaches(ev, value, depth + 1) for value in called)


def _expressions(scope: Scope) -> Iterable[tree.Expr]:
    """What the scope's statements bind, store and call."""

    def inner() -> Iterator[tree.Expr]:
        for bindings in scope.bindings.values():
            for binding in bindings:
                if binding.kind in ("assign", "element", "context"):
                    yield binding.node  # type: ignore[misc]
        for store in scope.stores:
            yield store.target
            yield store.value
        for call, _ in scope.calls:
            yield call

    return inner()
