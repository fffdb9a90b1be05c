"""Which seeds are the same at every call: constants, and what torch gives a worker once for its whole life."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from torchrepro_lint.dotted import last_part, last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, MemberOf, SequenceValue, Value
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.worker_seeds.worker_info import is_worker_info

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["SeedKind", "fixed_seed", "seed_parameter", "written_argument"]

#: "constant": the same in every call. "worker": the same in every call within one worker.
SeedKind = Literal["constant", "worker"]


def seed_parameter(name: str) -> Parameter | None:
    """The argument with the seed, of a call that seeds or that makes a generator."""
    for effect in rng_effects(name):
        if effect.kind in ("make", "seed") and effect.seed_parameter is not None:
            return effect.seed_parameter
    seeding = seeding_call(name)
    return seeding.seed_parameter if seeding is not None else None


def fixed_seed(ev: Evaluator, event: Event) -> SeedKind | None:
    """How the seed of a seeding call stays the same; None where it changes, may change, or comes from entropy."""
    parameter = seed_parameter(event.name)
    if parameter is None:
        return None
    given, values = argument(event.arguments, parameter.name, parameter.position)
    if not given or not values:
        return None
    if all(_is_constant(value) for value in values):
        return "constant"
    written = written_argument(event, parameter)
    return "worker" if written is not None and _of_worker(ev, event, written) else None


def _is_constant(value: Value) -> bool:
    match value:
        case Constant(value=constant):
            return constant is not None
        case SequenceValue(items=items) if items is not None:
            return bool(items) and all(part and all(map(_is_constant, part)) for part in items)
        case ExternalObject(name=name, arguments=arguments) if arguments is not None:
            if last_part(name) in last_parts(known_calls("seed_objects")) and arguments.positional:
                return all(map(_is_constant, arguments.positional[0]))
    return False


def written_argument(event: Event, parameter: Parameter) -> tree.Expr | None:
    """The expression that stands for a parameter in the call."""
    if event.call is None:
        return None
    for index, arg in enumerate(event.call.args):
        if arg.keyword == parameter.name or (arg.keyword is None and not arg.star and index == parameter.position):
            return arg.value
    return None


def _of_worker(ev: Evaluator, event: Event, node: tree.Expr) -> bool:
    """Whether an expression is made of torch's seed of the worker and constants: nothing of the item is in it."""
    match node:
        case tree.Binary(left=left, right=right):
            return _all_of_worker(ev, event, (left, right))
        case tree.Unary(operand=operand):
            return _of_worker(ev, event, operand)
        case tree.Call(func=tree.Name(id="int"), args=(arg,)):
            return _of_worker(ev, event, arg.value)
        case tree.Display(items=items) if items:
            return _all_of_worker(ev, event, items)
        case tree.Name(id=name) if event.frame is not None:
            bindings = event.frame.scope.bindings.get(name, ())
            if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path and not bindings[0].unpack:
                bound = bindings[0].node
                return bound is not None and _of_worker(ev, event, bound)  # type: ignore[arg-type]
            return False
        case tree.Attribute(attr="seed" | "id") | tree.Call() if event.frame is not None:
            return all(_is_from_torch(value) for value in ev.values(node, event.frame) or (None,))
    return False


def _all_of_worker(ev: Evaluator, event: Event, parts: Iterable[tree.Expr]) -> bool:
    """Whether all parts are constant or the worker's, and not all are constant."""
    rest = [part for part in parts if not _is_number(part)]
    return bool(rest) and all(_of_worker(ev, event, part) for part in rest)


def _is_number(node: tree.Expr) -> bool:
    match node:
        case tree.Const():
            return True
        case tree.Binary(left=left, right=right):
            return _is_number(left) and _is_number(right)
    return False


def _is_from_torch(value: Value | None) -> bool:
    match value:
        case ExternalObject(name=name):
            return canonical(name) in known_calls("worker_seed") or is_worker_info(value)
        case MemberOf(receiver=ExternalObject() as receiver):
            return _is_from_torch(receiver)
    return False
