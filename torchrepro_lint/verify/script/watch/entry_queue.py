"""Entries on their way to the file, in order. What a device still computes holds up entries, not the program."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from torchrepro_lint.verify.hashing import Content
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.record import RecordWriter

PendingHash: TypeAlias = Content | str | None  # content that a device may still compute, its hash, or nothing
_MOST = 1000  # entries that wait at a time


@dataclass(slots=True)
class PendingEntry:
    """An entry, and what of it may not be known yet: contents, and a text to be had by asking."""

    entry: Entry
    inputs: PendingHash = None
    output: PendingHash = None
    shown: str | Callable[[], str] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether nothing of it has to be waited for."""
        return all(not isinstance(hashed, Content) or hashed.is_ready for hashed in (self.inputs, self.output))

    def complete(self) -> Entry:
        """The entry with all that was missing; waits for it."""
        return replace(
            self.entry,
            inputs=_hash(self.inputs),
            output=_hash(self.output),
            shown=self.shown() if callable(self.shown) else self.shown,
        )


class EntryQueue:
    """A queue before the writer of a record."""

    def __init__(self, writer: RecordWriter) -> None:
        self._writer = writer
        self._queue: deque[PendingEntry] = deque()
        self._lock = threading.RLock()  # several threads may record

    def put(self, outgoing: PendingEntry) -> None:
        """Write an entry now if nothing has to be waited for, and otherwise after those before it."""
        with self._lock:
            if not self._queue and outgoing.is_ready:
                self._writer.write(outgoing.complete())
                return
            self._queue.append(outgoing)
            if len(self._queue) > _MOST:
                self.write(_MOST // 2)

    def write(self, keep: int = 0) -> None:
        """Write all entries but the last `keep`; waits for what they need."""
        with self._lock:
            while len(self._queue) > keep:
                self._writer.write(self._queue.popleft().complete())

    def discard(self) -> None:
        """Drop what waits: in a forked child it is the parent's to write."""
        self._queue.clear()
        self._lock = threading.RLock()  # the old one may be held by a thread that the child does not have


def _hash(hashed: PendingHash) -> str | None:
    return hashed.digest() if isinstance(hashed, Content) else hashed
