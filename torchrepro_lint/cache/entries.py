"""What the file of the cache is made of: a line that names its form, and entries. Each is a line with its key, the
digest of its bytes and how many they are, and the bytes.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["FORMAT", "Entry", "entries_of"]

FORMAT = b"torchrepro-lint results 3\n"

_LONGEST_LINE = 1_000
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes under a key. They are in memory, or in a file from `start` on, and are read when they are asked for: what
    an entry of a file gives may be another than what its digest says.
    """

    key: str
    digest: str
    size: int
    source: bytes | BinaryIO
    start: int = 0

    @classmethod
    def of(cls, key: str, data: bytes) -> Entry:
        """An entry that is to be written."""
        return cls(key, _digest(key, data), len(data), data)

    def data(self) -> bytes | None:
        """The bytes, None where they are not those of the digest."""
        data = self.piece(0, self.size)
        return data if _digest(self.key, data) == self.digest else None

    def piece(self, start: int, size: int) -> bytes:
        """A part of the bytes, which nobody has checked; less than `size` where they end before."""
        size = max(0, min(size, self.size - start))
        if isinstance(self.source, bytes):
            return self.source[start : start + size]
        self.source.seek(self.start + start)
        return self.source.read(size)

    def write(self, stream: BinaryIO) -> None:
        """Appends the entry to a file. OSError where it is not there any more as a whole."""
        stream.write(f"{self.key} {self.digest} {self.size}\n".encode("ascii"))
        for start in range(0, self.size, _PIECE):
            piece = self.piece(start, _PIECE)
            if len(piece) != min(_PIECE, self.size - start):
                raise OSError(f"the entry {self.key} ends before its end")
            stream.write(piece)


def entries_of(stream: BinaryIO) -> dict[str, Entry]:
    """The entries of a file, by key, up to the first that is not in order; none where the file is of another form."""
    found: dict[str, Entry] = {}
    if stream.readline(len(FORMAT)) != FORMAT:
        return found
    end = os.fstat(stream.fileno()).st_size
    while line := stream.readline(_LONGEST_LINE):
        try:
            key, digest, size = line.decode("ascii").split()
            entry = Entry(key, digest, int(size), stream, stream.tell())
        except ValueError:
            break
        if entry.size < 0 or entry.start + entry.size > end:
            break
        found.setdefault(key, entry)
        stream.seek(entry.size, os.SEEK_CUR)
    return found


def _digest(key: str, data: bytes) -> str:
    digest = hashlib.blake2b(key.encode("ascii") + b"\n", digest_size=16)
    digest.update(data)
    return digest.hexdigest()
