"""The digests of files by what the file system says of them: a file that is as it was is not read again.

This is how git's index does it (its documentation, "racy-git"). Size, times and inode of a file stand for its contents
only where it was last changed well before the run that has looked at it: a change within the same tick of the clock of
the file system would leave no trace in them. Any other file is read.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchrepro_lint.cache.key import DIGEST_SIZE, digest_of, key_of
from torchrepro_lint.cache.store import Store
from torchrepro_lint.source.contents import Contents

__all__ = ["KnownDigests"]

_GRAIN_NS = 3_000_000_000  # the times of a FAT file system go in steps of two seconds
_STATE = struct.Struct("<qqqQQ")
_UNKNOWN = bytes(_STATE.size)
_SIZE = _STATE.size + DIGEST_SIZE


class KnownDigests:
    """The digests of `files` as they are now. SourceError where one cannot be read."""

    def __init__(self, store: Store, files: Sequence[Path], contents: Contents) -> None:
        self._store = store
        self._key = f"digests-{key_of(map(str, files))}"
        self._known = store.get(self._key) or b""
        made = [self._look(path, known, contents) for path, known in zip(files, self._entries(len(files)), strict=True)]
        self._now = b"".join(made)
        self.digests = {path: entry[_STATE.size :] for path, entry in zip(files, made, strict=True)}

    def keep(self) -> None:
        """Keeps what was learned for the next run."""
        if self._now != self._known:
            self._store.put({self._key: self._now})

    def _entries(self, count: int) -> Iterator[bytes]:
        """What is known about each file: its state, and its digest."""
        known = self._known if len(self._known) == count * _SIZE else bytes(count * _SIZE)
        return (known[at : at + _SIZE] for at in range(0, len(known), _SIZE))

    def _look(self, path: Path, known: bytes, contents: Contents) -> bytes:
        state = _state(path, contents.since - _GRAIN_NS)
        if state != _UNKNOWN and known.startswith(state):
            return known
        return state + digest_of(contents(path))


def _state(path: Path, before: int) -> bytes:
    """What changes when the file does, if it was last changed before that moment, in nanoseconds: all zero if not."""
    if os.name == "nt":
        return _UNKNOWN  # there, the time of change can be set, and tools that copy do so
    try:
        found = os.stat(path)  # noqa: PTH116 (of thousands of files)
        times = (found.st_mtime_ns, found.st_ctime_ns)
        if not stat.S_ISREG(found.st_mode) or max(times) >= before:
            return _UNKNOWN
        return _STATE.pack(found.st_size, *times, found.st_ino, found.st_dev)
    except (OSError, struct.error):
        return _UNKNOWN
