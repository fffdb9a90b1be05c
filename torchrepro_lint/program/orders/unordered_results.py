"""Results that are added up, or trained on, in the order in which they are done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.orders.completions import completions
from torchrepro_lint.program.orders.queued_results import QueuedResult, queued_results
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["completion_sums", "unordered_loaders"]

_LOADERS: Final = frozenset(
    map(canonical, ("torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"))
)
_IN_ORDER: Final = "in_order"
#: What gives the elements of its first argument, one by one.
_WRAPPERS: Final = frozenset({"tqdm", "track", "iter", "enumerate"})
#: What makes a number, or an array of numbers, that is no whole one.
_MAKES_NUMBERS: Final = frozenset({"float", "zeros", "zeros_like", "new_zeros"})


def unordered_loaders(program: Program) -> Iterator[KnownCall]:
    """The loaders with workers whose batches come in the order in which these are done."""
    if not program.project.containing(_IN_ORDER):
        return
    for group in asked_calls(program, _LOADERS):
        one = group[0]
        _, orders = argument(one.arguments, _IN_ORDER, None)
        given, workers = argument(one.arguments, "num_workers", 5)
        if not orders or not all(isinstance(value, Constant) and value.value is False for value in orders):
            continue
        if given and not (workers and all(isinstance(value, Constant) and value.value == 0 for value in workers)):
            yield one


def completion_sums(program: Program) -> Iterator[tuple[KnownCall, Site]]:
    """The calls that give what is done first, each with the place that adds up numbers in that order."""
    for group in asked_calls(program, completions()):
        one = group[0]
        parents = parents_of(program.ev, one.facts)
        loop = _loop_over(parents, one.call)
        if loop is None:
            continue
        taken = {node.id for node in walk([loop.target]) if isinstance(node, tree.Name)}
        added = _addition(one, loop.body, taken)
        if added is not None:
            yield one, Site(one.facts.path, added.site)
    for queued in queued_results(program):
        added = _added(queued)
        if added is not None:
            yield queued.call, Site(queued.call.facts.path, added.site)


def _added(queued: QueuedResult) -> tree.AugAssign | None:
    """The statement of a loop that adds what its turn takes out of a queue to a number."""
    if isinstance(queued.loop, tree.Comprehension):
        return None
    taken = queued.call.call
    statements = list(own_statements(queued.loop.body))
    names = {
        part.id
        for statement in statements
        if isinstance(statement, tree.Assign) and statement.value is taken
        for part in walk(statement.targets)
        if isinstance(part, tree.Name)
    }
    return _addition(queued.call, statements, names, taken)


def _addition(
    one: KnownCall, statements: Iterable[tree.Stmt], names: Set[str], taken: tree.Call | None = None
) -> tree.AugAssign | None:
    """The first of some statements that adds what has one of the names, or what a call gives, to a number."""
    for statement in statements:
        if isinstance(statement, tree.AugAssign) and statement.op in ("+", "-", "*") and _is_number(one, statement):
            parts = walk([statement.value])
            if any(part is taken or (isinstance(part, tree.Name) and part.id in names) for part in parts):
                return statement
    return None


def _loop_over(parents: Parents, call: tree.Call) -> tree.For | None:
    """The loop that takes the results of a call one by one, be it through a bar that shows how far it is."""
    node: tree.Expr = call
    while True:
        match parents.of(node):
            case tree.For(iter=iterated) as loop:
                return loop if iterated is node else None
            case tree.Arg() as arg:
                wrapper = parents.of(arg)
                if not isinstance(wrapper, tree.Call) or called_name(wrapper.func) not in _WRAPPERS:
                    return None
                node = wrapper
            case _:
                return None


def _is_number(one: KnownCall, statement: tree.AugAssign) -> bool:
    """Whether what is added to begins as a number with a point, or as an array of zeros."""
    if not isinstance(statement.target, tree.Name):
        return False
    bindings = one.scope.bindings.get(statement.target.id, ())
    begun = [binding.node for binding in bindings if binding.kind == "assign" and not binding.unpack]
    return bool(begun) and all(_begins_as_number(node) for node in begun if not isinstance(node, tree.AugAssign))


def _begins_as_number(node: object) -> bool:
    match node:
        case tree.Const(value=float()):
            return True
        case tree.Call(func=func):
            return called_name(func) in _MAKES_NUMBERS
    return False
