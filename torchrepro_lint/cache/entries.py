"""What the file of the cache is made of: a line that names its form, and entries. Each is a line with its key, the
signature of its bytes and how many they are, and the bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["FORMAT", "Entry", "entries_of"]

FORMAT = b"torchrepro-lint results 4\n"

_LONGEST_LINE = 1_000
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes under a key. They are in memory, or in a file from `start` on, and are read when they are asked for: what
    an entry of a file gives may be another than what was signed.
    """

    key: str
    signature: str
    size: int
    source: bytes | BinaryIO
    start: int = 0

    @classmethod
    def of(cls, key: str, data: bytes, secret: bytes) -> Entry:
        """An entry that is to be written, signed with the secret."""
        return cls(key, _signature(key, data, secret), len(data), data)

    def data(self, secret: bytes) -> bytes | None:
        """The bytes, None where they are not signed with the secret."""
        data = self.piece(0, self.size)
        signed = _signature(self.key, data, secret)
        return data if hmac.compare_digest(signed.encode(), self.signature.encode()) else None

    def piece(self, start: int, size: int) -> bytes:
        """A part of the bytes, which nobody has checked; less than `size` where they end before."""
        size = max(0, min(size, self.size - start))
        if isinstance(self.source, bytes):
            return self.source[start : start + size]
        self.source.seek(self.start + start)
        return self.source.read(size)

    def written(self) -> Iterator[bytes]:
        """What a file holds for the entry, in parts. OSError where it is not there any more as a whole."""
        yield f"{self.key} {self.signature} {self.size}\n".encode("ascii")
        for start in range(0, self.size, _PIECE):
            piece = self.piece(start, _PIECE)
            if len(piece) != min(_PIECE, self.size - start):
                raise OSError(f"the entry {self.key} ends before its end")
            yield piece


def entries_of(stream: BinaryIO) -> dict[str, Entry]:
    """The entries of a file, by key, up to the first that is not in order; none where the file is of another form."""
    found: dict[str, Entry] = {}
    if stream.readline(len(FORMAT)) != FORMAT:
        return found
    end = os.fstat(stream.fileno()).st_size
    while line := stream.readline(_LONGEST_LINE):
        try:
            key, signature, size = line.decode("ascii").split()
            entry = Entry(key, signature, int(size), stream, stream.tell())
        except ValueError:
            break
        if entry.size < 0 or entry.start + entry.size > end:
            break
        found.setdefault(key, entry)
        stream.seek(entry.size, os.SEEK_CUR)
    return found


def _signature(key: str, data: bytes, secret: bytes) -> str:
    """The message authentication code of an entry (keyed BLAKE2b, RFC 7693)."""
    code = hashlib.blake2b(key.encode("ascii") + b"\n", key=secret, digest_size=32)
    code.update(data)
    return code.hexdigest()
