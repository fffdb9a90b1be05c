"""What hangs on the generator of a loader: the order of its samples, or what its workers draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.ordering.generators import consumers, loaders_with, serves_loaders_alone
from torchrepro_lint.program.programs.epoch_loops import is_for_evaluation
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.workers.global_draws import first_draw

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["GeneratorUse", "decides_nothing", "first_use"]


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorUse:
    """A loader or sampler that draws from a generator: its order, or else the seeds of its workers, which draw at
    `draw`.
    """

    site: Site
    draw: Site | None = None


def first_use(program: Program, made: frozenset[Site]) -> GeneratorUse | None:
    """The first that draws from a generator that is made at one of these places, the orders before the workers."""
    ordered = next(consumers(program, made), None)
    return GeneratorUse(ordered) if ordered is not None else next(_of_workers(program, made), None)


def decides_nothing(program: Program, made: KnownCall) -> bool:
    """Whether a generator is given to nothing but loaders that do not shuffle, and of whose workers none is seen to
    draw: such a loader draws only a seed for its workers from it (torch/utils/data/dataloader.py 2.13.0,
    `_BaseDataLoaderIter.__init__`), which nothing uses.
    """
    sites = frozenset({made.site})
    loaders = [loader for group in loaders_with(program, sites) for loader in group]
    return (
        serves_loaders_alone(program, made)
        and all(loader.known.order == "torch" and first_draw(program, loader) is None for loader in loaders)
        and next(consumers(program, sites), None) is None
    )


def _of_workers(program: Program, made: frozenset[Site]) -> Iterator[GeneratorUse]:
    """The loaders whose workers start anew in each epoch and draw; fixed noise is meant in an evaluation."""
    for loaders in loaders_with(program, made):
        for loader in loaders:
            if is_for_evaluation(program, loader.facts, loader.call) or not _starts_workers_anew(loader):
                continue
            draw = first_draw(program, loader)
            if draw is not None:
                yield GeneratorUse(loader.site, draw.event.site)
                break


def _starts_workers_anew(loader: Loader) -> bool:
    """Whether workers are proven not to go on from one epoch to the next."""
    values = loader.value("persistent_workers")
    return bool(values) and all(isinstance(value, Constant) and not value.value for value in values)
