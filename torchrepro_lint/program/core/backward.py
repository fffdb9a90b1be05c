"""The backward solver: from an expression to the sources of its value, along the steps of origins.py.

A client says what a source is to it, what an operation makes of the facts of its operands, and how facts are joined
where a value is one of several. The steps between (names, attributes, containers, calls, returns, closures, loops,
other modules) are the solver's.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.core.origins import origins
from torchrepro_lint.program.core.queries import Origin, Query
from torchrepro_lint.program.evaluation.frames import Frame

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Backward", "BackwardSet"]

Fact = TypeVar("Fact")
Item = TypeVar("Item")


class Backward(Generic[Fact]):
    """Asks where values come from, for one kind of fact. `None` is the fact of a value of which nothing is known."""

    def __init__(self, ev: Evaluator, *, beyond: Fact | None = None) -> None:
        """`beyond` is the fact about a value past the limits of the evaluator, where nothing may be denied."""
        self.ev = ev
        self._beyond = beyond

    @property
    def key(self) -> Hashable:
        """Tells the questions of this analysis from those of others."""
        return type(self).__name__

    def of(self, node: tree.Expr, frame: Frame) -> Fact | None:
        """The fact about an expression in a frame."""
        return self.ask(Query(node, frame))

    def of_any_caller(self, node: tree.Expr, facts: ModuleFacts, scope: Scope) -> Iterator[Fact]:
        """What is known of an expression in the frames in which its scope runs."""
        for frame in self.ev.contexts(facts, scope):
            fact = self.of(node, frame)
            if fact is not None:
                yield fact

    def ask(self, query: Query) -> Fact | None:
        """The fact about the value that a query means; found once."""
        return self.ev.remembered(("backward", self.key, query), lambda: self._found(query), None, self._beyond)

    def _found(self, query: Query) -> Fact | None:
        source = self.source(query)
        if source is not None:
            return source
        found = origins(self.ev, query)
        if found is None:
            return self.made(query)
        facts = [(self._passed(query, one), one) for one in found.options]
        return self.joined(query, facts, found.is_open)

    def _passed(self, query: Query, origin: Origin) -> Fact | None:
        fact = self.ask(origin.query)
        return self.passed(query, origin, fact) if fact is not None else None

    def operands(self, query: Query, parts: Iterable[tree.Expr]) -> list[Fact | None]:
        """The facts about the parts of an expression, in their order."""
        return [self.ask(query.asking(()).inside(part)) for part in parts]

    # --- what a client says -----------------------------------------------------------------------------------

    def source(self, query: Query) -> Fact | None:
        """The fact that an expression is itself the source of; None where its origins are to be asked."""
        return None

    def made(self, query: Query) -> Fact | None:
        """The fact about what an operation makes, or the call of something outside the project."""
        return None

    def passed(self, query: Query, origin: Origin, fact: Fact) -> Fact | None:
        """The fact about a query, given that about one of its origins; None where it does not come that way."""
        return fact

    def joined(self, query: Query, facts: Sequence[tuple[Fact | None, Origin]], is_open: bool) -> Fact | None:
        """The fact about a value that is one of several; `is_open`: or another one, which was not found."""
        return next((fact for fact, _ in facts if fact is not None), None)


class BackwardSet(Backward[frozenset[Item]]):
    """Asks for all sources of a value at once: of several values that it may be, each counts."""

    def joined(
        self, query: Query, facts: Sequence[tuple[frozenset[Item] | None, Origin]], is_open: bool
    ) -> frozenset[Item] | None:
        """All of them."""
        return frozenset[Item]().union(*(fact for fact, _ in facts if fact is not None)) or None
