"""Entries on their way to the file, in order. What a device still computes holds up entries, not the program."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from torchrepro_lint.verify.hashing import Content
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.record import RecordWriter

Said = Content | str | None
_MOST = 1000  # entries that wait at a time


@dataclass(slots=True)
class Outgoing:
    """An entry, and what of it may not be known yet: contents, and a text to be had by asking."""

    entry: Entry
    inputs: Said = None
    output: Said = None
    shown: str | Callable[[], str] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether nothing of it has to be waited for."""
        return all(not isinstance(said, Content) or said.is_ready for said in (self.inputs, self.output))

    def complete(self) -> Entry:
        """The entry with all that was missing; waits for it."""
        return replace(
            self.entry,
            inputs=_hash(self.inputs),
            output=_hash(self.output),
            shown=self.shown() if callable(self.shown) else self.shown,
        )


class Outbox:
    """A queue before the writer of a record."""

    def __init__(self, writer: RecordWriter) -> None:
        self._writer = writer
        self._queue: deque[Outgoing] = deque()
        self._lock = threading.RLock()  # several threads may tell

    def put(self, outgoing: Outgoing) -> None:
        """Write it now where nothing has to be waited for, else when it is its turn."""
        with self._lock:
            if not self._queue and outgoing.is_ready:
                self._writer.write(outgoing.complete())
                return
            self._queue.append(outgoing)
            if len(self._queue) > _MOST:
                self.settle(_MOST // 2)

    def settle(self, keep: int = 0) -> None:
        """Write all but the last `keep`."""
        with self._lock:
            while len(self._queue) > keep:
                self._writer.write(self._queue.popleft().complete())

    def __len__(self) -> int:
        return len(self._queue)

    def forget(self) -> None:
        """Drop what waits: in a forked child it is the parent's to write."""
        self._queue.clear()
        self._lock = threading.RLock()  # the old one may be held by a thread that the child does not have


def _hash(said: Said) -> str | None:
    return said.digest() if isinstance(said, Content) else said
