"""Stage 2: results that the program takes in the order in which they are finished, and the numbers of `hash`."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator
from typing import Any

from torchrepro_lint.verify.script.watch.places import caller
from torchrepro_lint.verify.script.watch.recorder import Recorder

_WIDEST = 60


class ArrivalWatch:
    """Wraps what gives results as they are finished, and `hash`. Only calls from the program's own lines are told."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def watch_pool(self, pool: Any) -> None:
        """Watch `imap_unordered` of `multiprocessing.pool`."""
        iterator = pool.IMapUnorderedIterator
        take = iterator.next

        @functools.wraps(take)
        def next(taken: Any, timeout: float | None = None) -> Any:
            result = take(taken, timeout)
            self._tell("imap_unordered", result)
            return result

        iterator.next = iterator.__next__ = next

    def watch_futures(self, futures: Any) -> None:
        """Watch `as_completed` of `concurrent.futures`."""
        original = futures.as_completed

        @functools.wraps(original)
        def as_completed(*args: Any, **kwargs: Any) -> Iterator[Any]:
            for future in original(*args, **kwargs):
                if not future.cancelled() and future.exception() is None:
                    self._tell("as_completed", future.result())
                yield future

        futures.as_completed = as_completed

    def watch_hash(self) -> None:
        """Watch `hash` of what holds text: that of a number is the same in each run."""
        original = builtins.hash

        @functools.wraps(original)
        def hash(value: Any) -> int:
            number = original(value)
            if self._recorder.recording and isinstance(value, (str, bytes, tuple, frozenset)):
                places = caller()
                if places[0] is not None and places[1] is None:
                    self._recorder.record(
                        "hash", "hash", output=str(number), shown=repr(value)[:_WIDEST], places=places
                    )
            return number

        builtins.hash = hash

    def _tell(self, name: str, result: Any) -> None:
        if self._recorder.recording:
            places = caller()
            if places[0] is not None:
                self._recorder.record("arrival", name, output=self._recorder.content(result), places=places)
