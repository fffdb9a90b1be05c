"""Batches: in the process that receives them, and in stage 2 in the worker that makes them."""

from __future__ import annotations

import functools
from typing import Any

from torchrepro_lint.verify.hashing import shown
from torchrepro_lint.verify.loader_watch import LoaderWatch, Pass
from torchrepro_lint.verify.script.watch.limit import RunLimit
from torchrepro_lint.verify.script.watch.recorder import Recorder


class BatchWatch:
    """Tells batches. In a worker it tells the state of the RNGs at the first fetch, and opens the window."""

    def __init__(self, recorder: Recorder, limit: RunLimit) -> None:
        self._recorder = recorder
        self._limit = limit
        self._about: dict[int, dict[str, Any]] = {}
        self._generators: list[Any] = []
        self._fetched = 0
        self._fetchers = 0
        self.loader = 0

    def watch(self, dataloader: Any) -> None:
        """Put the hooks into `torch.utils.data.dataloader`."""
        LoaderWatch(self._deliver, begins=self._begin).watch(dataloader)
        fetchers = dataloader._utils.fetch
        for fetcher in (fetchers._MapDatasetFetcher, fetchers._IterableDatasetFetcher):
            self._watch_fetch(fetcher)

    def _begin(self, one: Pass, loader: Any) -> None:
        # Its workers start now, if they do: they are of this loader.
        self.loader, self._recorder.epoch = one.loader, one.epoch
        about: dict[str, Any] = {}
        self._about[one.loader] = about
        if not getattr(loader, "in_order", True) and loader.num_workers > 1:
            about["in_order"] = False
        if (generator := getattr(loader, "generator", None)) is not None:
            about["generator"] = self._number(generator)

    def _number(self, generator: Any) -> int:
        """Which of the generators that loaders hold it is, from 0."""
        known = (number for number, one in enumerate(self._generators) if one is generator)
        if (number := next(known, None)) is None:
            number = len(self._generators)
            self._generators.append(generator)
        return number

    def _deliver(self, one: Pass, indices: Any, batch: Any) -> None:
        recorder = self._recorder
        self._limit.before_batch()
        recorder.epoch = one.epoch
        recorder.mark(
            "batch",
            f"batch {one.position} of loader {one.loader}",
            inputs=None if indices is None else recorder.content(indices),
            output=recorder.content(batch),
            shown=shown(batch),
            worker=one.worker,
            detail={"loader": one.loader, "position": one.position, **self._about.get(one.loader, {})},
        )

    def _watch_fetch(self, fetcher: Any) -> None:
        original, make = fetcher.fetch, fetcher.__init__

        @functools.wraps(make)
        def __init__(instance: Any, *args: Any, **kwargs: Any) -> None:
            if self._recorder.worker is not None:
                # A worker that persists makes a new one for every pass.
                if self._fetchers and self._recorder.epoch is not None:
                    self._recorder.epoch += 1
                self._fetchers += 1
                self._fetched = 0
            make(instance, *args, **kwargs)

        @functools.wraps(original)
        def fetch(instance: Any, indices: Any) -> Any:
            if self._recorder.worker is None:
                return original(instance, indices)
            return self._in_worker(functools.partial(original, instance, indices))

        fetcher.__init__, fetcher.fetch = __init__, fetch

    def _in_worker(self, fetch: Any) -> Any:
        recorder = self._recorder
        number, self._fetched = self._fetched, self._fetched + 1
        if number == 0:
            recorder.record_states()
        recorder.fetch(number)
        if not recorder.within_window:
            return fetch()
        recorder.record_states()
        try:
            return fetch()
        finally:
            recorder.fetched()
            recorder.record_states()
