"""What a DataLoader delivers: each batch with its loader, epoch, position and worker, and the indices asked for."""

from __future__ import annotations

import functools
import itertools
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary


@dataclass(slots=True)
class Pass:
    """One pass over a loader.

    `loader` numbers the loaders of a thread in the order of their first pass, `epoch` the passes over one loader,
    `position` the batches of this pass, all from 0. `worker` is the worker that made the latest batch; None in the main
    process.
    """

    loader: int
    epoch: int
    position: int = 0
    worker: int | None = None
    asked: deque[Any] = field(default_factory=deque)


class _Numbers(threading.local):
    """The next number of a loader. Threads begin their loaders in any order, so each counts its own."""

    def __init__(self) -> None:
        self.next = itertools.count()


def _ignore(*values: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class LoaderWatch:
    """Who is told of what.

    `begins` gets the pass and the loader before anything is drawn or started, `asks` the pass and the indices of one
    batch when the sampler gives them, `delivers` the pass, the indices and the batch before the program gets it.
    Indices are None for an iterable dataset.
    """

    delivers: Callable[[Pass, Any, Any], None]
    begins: Callable[[Pass, Any], None] = _ignore
    asks: Callable[[Pass, Any], None] = _ignore

    def watch(self, dataloader: Any) -> None:
        """Wrap the iterators of `torch.utils.data.dataloader`, which every kind of loader goes through."""
        base = dataloader._BaseDataLoaderIter
        multi = dataloader._MultiProcessingDataLoaderIter
        # A loader's number and its epoch so far. Numbers are never given twice, also when a loader is gone.
        numbers = _Numbers()
        known: WeakKeyDictionary[Any, list[int]] = WeakKeyDictionary()
        passes: WeakKeyDictionary[Any, Pass] = WeakKeyDictionary()
        make, reset, advance = base.__init__, multi._reset, base.__next__
        draw, process = base._next_index, multi._process_data

        def begin(iterator: Any, loader: Any) -> None:
            if loader not in known:
                known[loader] = [next(numbers.next), -1]
            known[loader][1] += 1
            number, epoch = known[loader]
            passes[iterator] = Pass(number, epoch)
            self.begins(passes[iterator], loader)

        @functools.wraps(make)
        def __init__(iterator: Any, loader: Any) -> None:
            begin(iterator, loader)
            make(iterator, loader)

        @functools.wraps(reset)
        def _reset(iterator: Any, loader: Any, first_iter: bool = False) -> None:
            if not first_iter:  # persistent workers: the same iterator goes on to its next pass
                begin(iterator, loader)
            reset(iterator, loader, first_iter)

        @functools.wraps(draw)
        def _next_index(iterator: Any) -> Any:
            indices = draw(iterator)
            # For an iterable dataset the sampler yields only None.
            empty = indices is None or (isinstance(indices, list) and all(index is None for index in indices))
            passes[iterator].asked.append(None if empty else indices)
            if not empty:
                self.asks(passes[iterator], indices)
            return indices

        @functools.wraps(process)
        def _process_data(iterator: Any, data: Any, *worker: Any) -> Any:
            passes[iterator].worker = worker[0] if worker and isinstance(worker[0], int) else None
            return process(iterator, data, *worker)

        @functools.wraps(advance)
        def __next__(iterator: Any) -> Any:
            batch = advance(iterator)
            # An iterator that another one made inside itself is told of by its own name only.
            one = passes[iterator]
            # A loader that takes up its state, as torchdata's does, goes on in the middle of a pass.
            one.position = max(one.position, getattr(iterator, "_num_yielded", 0) - 1)
            self.delivers(one, one.asked.popleft() if one.asked else None, batch)
            one.position += 1
            return batch

        base.__init__, base.__next__, base._next_index = __init__, __next__, _next_index
        multi._reset, multi._process_data = _reset, _process_data
