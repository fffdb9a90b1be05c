"""The bytes of the files of a run, each read once: what a run keeps under their digests is what it has looked at."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.source.text import SourceError, read_bytes

__all__ = ["Contents", "Read"]

#: Gives the bytes of a file. SourceError where it cannot be read.
Read: TypeAlias = Callable[[Path], bytes]


class Contents:
    """Files as they were when they were first asked for: after the moment `since`, in nanoseconds. Use an instance for
    one run.
    """

    def __init__(self) -> None:
        self.since = time.time_ns()
        self._known: dict[Path, bytes | SourceError] = {}

    def __call__(self, path: Path) -> bytes:
        """The bytes of `path`. SourceError where it cannot be read."""
        if path not in self._known:
            try:
                self._known[path] = read_bytes(path)
            except SourceError as error:
                self._known[path] = error
        known = self._known[path]
        if isinstance(known, SourceError):
            raise known
        return known
