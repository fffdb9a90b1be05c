"""What a DataLoader is given from outside that a training must not depend on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torchrepro_lint.verify.script.watch.quiet import quietly

MODULE = "torch.utils.data.dataloader"


def add_a_worker(dataloader: ModuleType, met: Callable[[], None]) -> None:
    """Give each loader that has workers one more. Loaders without workers stay as they are."""
    loader = dataloader.DataLoader
    make = loader.__init__

    @functools.wraps(make)
    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        make(self, *arguments, **keywords)
        if self.num_workers > 0:
            met()
            self.num_workers += 1

    loader.__init__ = __init__


def draw_between_passes(dataloader: ModuleType, met: Callable[[], None]) -> None:
    """Draw once from torch's global RNG before each pass over a loader but the first of the process.

    It is the draw that every pass over a loader without a generator makes, for the seed of its workers, whether it has
    any or not: what follows is as it would be after one more evaluation.
    """
    base, multi = dataloader._BaseDataLoaderIter, dataloader._MultiProcessingDataLoaderIter
    make, reset = base.__init__, multi._reset
    first = True

    def between() -> None:
        nonlocal first
        if not first:
            met()
            torch = dataloader.torch
            # It is not an operation of the program, and not to be recorded as one.
            with quietly(torch):
                torch.empty((), dtype=torch.int64).random_()
        first = False

    @functools.wraps(make)
    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        between()
        make(self, *arguments, **keywords)

    @functools.wraps(reset)
    def _reset(self: Any, loader: Any, first_iter: bool = False) -> None:
        if not first_iter:  # persistent workers: the same iterator goes on to its next pass
            between()
        reset(self, loader, first_iter)

    base.__init__, multi._reset = __init__, _reset
