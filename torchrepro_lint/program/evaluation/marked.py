"""Which of some objects an expression may be: allocation sites, asked of the evaluator.

The evaluator has no value of its own for most lists. Here each of some expressions is given one, an object that is made
at that place; whatever the evaluator follows (names, attributes, containers, parameters, returned values, closures)
then says where that very object is meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeGuard

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.evaluator import Evaluator
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.memory import MAX_STEPS
from torchrepro_lint.program.evaluation.values import NOTHING, Arguments, ExternalObject, Site, Value, Values, values_of
from torchrepro_lint.program.modules import Project

__all__ = ["MarkedEvaluator", "is_made", "made_at"]

#: How many questions are answered to find out which objects one expression may be: most take less than a hundred.
MAX_STEPS_MARKED: Final = 1_500
_MADE: Final = "builtins.list"


class MarkedEvaluator(Evaluator):
    """An evaluator for which each of the expressions `made` gives an object of its own. It shares no answers with the
    evaluator of the program, whose answers do not know these objects; so what takes more than a few steps to find out
    may be anything.
    """

    def __init__(self, project: Project, made: Iterable[tree.Expr]) -> None:
        super().__init__(project)
        self._made = {id(node): node for node in made}

    def begin_question(self) -> None:
        """Starts a question with a smaller budget than `Evaluator` has."""
        super().begin_question()
        self.steps = max(0, MAX_STEPS - MAX_STEPS_MARKED)

    def values(self, node: tree.Expr, frame: Frame) -> Values:
        """As `Evaluator.values`, but for the expressions that are marked."""
        if self.is_marked(node):
            return values_of(made_at(self.site(node, frame)))
        return super().values(node, frame)

    def is_marked(self, node: tree.Expr) -> bool:
        """Whether an expression is one of those that are marked."""
        return id(node) in self._made

    def objects(self, node: tree.Expr, frame: Frame) -> frozenset[Site]:
        """The places of the marked expressions whose objects an expression may be."""
        places = {one.site for one in self.values(node, frame) if is_made(one)}
        return frozenset(place for place in places if place is not None)


def is_made(value: Value) -> TypeGuard[ExternalObject]:
    """Whether a value is an object of a marked expression."""
    return isinstance(value, ExternalObject) and value.name == _MADE


def made_at(site: Site, of: Values = NOTHING) -> ExternalObject:
    """The object of the expression at `site`, which is made of the objects `of`."""
    return ExternalObject(_MADE, Arguments((of,)) if of else None, site)
