"""Iterators that are made again, where they end (`except StopIteration: batches = iter(loader)`) or in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path, Scope
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.blocks import simple_expressions_in
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Restart", "iterators_in_loops", "restarts"]

_NEXT: Final = frozenset({"next", "__next__"})


@dataclass(frozen=True, slots=True, eq=False)
class Restart:
    """The place where an iterator is made again, the scope of it, and what the iterator goes through."""

    site: Site
    scope: Scope
    over: tree.Expr


def restarts(program: Program, facts: ModuleFacts) -> Iterator[Restart]:
    """The places of a file where an iterator that has ended is made again."""
    parents = parents_of(program.ev, facts)
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            if called_name(call.func) != "iter" or len(call.args) != 1:
                continue
            match parents.of(call):
                case tree.Assign(targets=(target,)) as statement:
                    handler = parents.of(statement)
                    attempt = parents.of(handler) if isinstance(handler, tree.Handler) else None
                    if isinstance(attempt, tree.Try) and _takes_next(attempt.body, dotted_name(target)):
                        yield Restart(Site(facts.path, statement.site), scope, call.args[0].value)


def iterators_in_loops(program: Program, facts: ModuleFacts) -> Iterator[tuple[Scope, tree.Call]]:
    """The calls in loops that make an iterator, `batches = iter(loader)`, which is then asked for its items."""
    for scope in facts.walk_scopes():
        for call, arms in scope.calls:
            if called_name(call.func) == "iter" and len(call.args) == 1 and arms and _runs_in_each_turn(scope, arms):
                target = parents_of(program.ev, facts).target_of(call)
                name = dotted_name(target) if target is not None else None
                if any(_asks(one, name) for one, _ in scope.calls):
                    yield scope, call


def _runs_in_each_turn(scope: Scope, arms: Path) -> bool:
    return all(at in scope.loops and arm == "body" for at, arm in arms)


def _takes_next(block: tree.Block, iterator: str | None) -> bool:
    """Whether a block asks an iterator for its next item."""
    return any(isinstance(part, tree.Call) and _asks(part, iterator) for part in walk(simple_expressions_in(block)))


def _asks(call: tree.Call, iterator: str | None) -> bool:
    """`next(batches)`, `batches.next()`."""
    if called_name(call.func) not in _NEXT:
        return False
    asked = call.args[0].value if call.args else getattr(call.func, "value", None)
    return asked is not None and dotted_name(asked) == iterator is not None
