"""Which of some objects an expression may be: allocation sites, asked of the evaluator.

The evaluator has no value of its own for most lists. Here each of some expressions is given one, an object that is made
at that place; whatever the evaluator follows (names, attributes, containers, parameters, returned values, closures)
then says where that very object is meant.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.evaluator import Evaluator
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ExternalObject, Site, Values, values_of
from torchrepro_lint.program.modules import Project

__all__ = ["MarkedEvaluator"]

_MADE = "builtins.list"


class MarkedEvaluator(Evaluator):
    """An evaluator for which each of the expressions `made` gives an object of its own. It shares no answers with the
    evaluator of the program, whose answers do not know these objects.
    """

    def __init__(self, project: Project, made: Iterable[tree.Expr]) -> None:
        super().__init__(project)
        self._made = {id(node): node for node in made}

    def values(self, node: tree.Expr, frame: Frame) -> Values:
        """As `Evaluator.values`, but for the expressions that are marked."""
        if id(node) in self._made:
            return values_of(ExternalObject(_MADE, None, self.site(node, frame)))
        return super().values(node, frame)

    def objects(self, node: tree.Expr, frame: Frame) -> frozenset[Site]:
        """The places of the marked expressions whose objects an expression may be."""
        found = self.values(node, frame)
        places = {one.site for one in found if isinstance(one, ExternalObject) and one.name == _MADE}
        return frozenset(place for place in places if place is not None)
