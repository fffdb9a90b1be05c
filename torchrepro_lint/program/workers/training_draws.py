"""Draws that a loader for an evaluation does not make, as the test above them asks for training: `if self.phase ==
"train":` in a data set that both the training and the evaluation use.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.running.guards import guards, left_before, place_of
from torchrepro_lint.program.workers.global_draws import is_of_an_evaluation
from torchrepro_lint.program.workers.item_seeds import trains

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.program import Program

__all__ = ["without_those_of_training"]


def without_those_of_training(program: Program, loader: Loader, draws: Iterable[Effect]) -> list[Effect]:
    """The draws in the workers of a loader, less those which by its name and theirs are for training alone."""
    found = list(draws)
    if not found or not is_of_an_evaluation(program, loader):
        return found
    return [one for one in found if not _is_for_training(program, one)]


def _is_for_training(program: Program, draw: Effect) -> bool:
    return any(_asks_for_training(program, site) for site in draw.event.sites)


def _asks_for_training(program: Program, site: Site) -> bool:
    """Whether a place runs, by the words of a test above it, in training alone."""
    place = place_of(program.ev, site)
    if place is None:
        return False
    return any(trains(guard.test, guard.holds) for guard in (*guards(program.ev, place), *left_before(place)))
