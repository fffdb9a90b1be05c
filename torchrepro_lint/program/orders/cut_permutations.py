"""From a slice back to the permutation from which it is cut."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Query
from torchrepro_lint.program.orders.order_places import scope_around
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.name_flow import NameFlow, name_flow
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["Piece", "is_cut_by", "pieces_of"]


class Piece(NamedTuple):
    """A slice, and where it is."""

    facts: ModuleFacts
    node: tree.Subscript
    scope: Scope


def pieces_of(program: Program, call: KnownCall) -> Iterator[Piece]:
    """The slices in the files of the programs of a call."""
    for path in sorted({call.facts.path, *program.imports.together(call.facts.path)}):
        facts = program.project.facts(path)
        for node in parents_of(program.ev, facts).slices if facts is not None else ():
            assert facts is not None
            yield Piece(facts, node, scope_around(program, facts, node))


def is_cut_by(program: Program, piece: Piece, call: KnownCall) -> bool:
    """Whether a slice is cut from what a call gives."""
    if not _flow_of(program, call).may_reach(piece.facts, piece.scope, piece.node.value):
        return False
    program.ev.begin_question()
    return any(_Permutation(program.ev, call.call).of_any_caller(piece.node.value, piece.facts, piece.scope))


def _flow_of(program: Program, call: KnownCall) -> NameFlow:
    def find() -> NameFlow:
        files = program.imports.ordered(program.imports.together(call.facts.path))
        return name_flow(program.ev, files, [(call.facts, call.call)])

    return program.once(("flow of", call.site), find)


class _Permutation(Backward[bool]):
    """Whether a value is what one call gives, or has its elements in the same order."""

    def __init__(self, ev: Evaluator, call: tree.Call) -> None:
        super().__init__(ev)
        self._call = call

    @property
    def key(self) -> Hashable:
        """The questions differ by the call."""
        return "permutation", self._call

    def source(self, query: Query) -> bool | None:
        """The call itself."""
        return True if query.node is self._call and not query.access else None

    def made(self, query: Query) -> bool | None:
        """`order.tolist()`, `list(order)`."""
        match query.node:
            case tree.Call(func=tree.Attribute(value=receiver, attr=attr)) if attr in method_words("permutations"):
                parts = [receiver]
            case tree.Call(func=func, args=(first, *_)) if called_name(func) in ("list", "tuple"):
                parts = [first.value]
            case _:
                parts = []
        return next((one for one in self.operands(query, parts if not query.access else ()) if one), None)
