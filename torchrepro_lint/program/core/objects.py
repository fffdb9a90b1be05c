"""Which of some objects a value may be: allocation sites, asked of the backward solver."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.core.backward import BackwardSet
from torchrepro_lint.program.core.queries import Query
from torchrepro_lint.program.evaluation.values import Site

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Objects"]


class Objects(BackwardSet[Site]):
    """The places of the expressions, among those given, that make the object that a value is."""

    def __init__(self, ev: Evaluator, made: Iterable[tree.Expr]) -> None:
        super().__init__(ev)
        self._made = frozenset(map(id, made))

    @property
    def key(self) -> Hashable:
        """The questions differ by the expressions that are asked for."""
        return "objects", self._made

    def source(self, query: Query) -> frozenset[Site] | None:
        """One of the expressions."""
        is_asked = not query.access and id(query.node) in self._made
        return frozenset((self.ev.site(query.node, query.frame),)) if is_asked else None
