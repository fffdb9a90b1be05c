"""The file of the cache. It is replaced as a whole, so that a run that is killed, or another at the same time, leaves
a whole file behind; of two that write at once, the later one's is kept. A file that is not in order counts as empty.

It begins with a line that names its form. Then comes each entry: a line with its key, the digest of its bytes and how
many they are, and the bytes.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["FOLDER", "Store", "clean"]

FOLDER = ".torchrepro-lint-cache"
_FILE = "results"
_FORMAT = b"torchrepro-lint results 2\n"

MAX_ENTRIES = 32
MAX_BYTES = 64_000_000

_MARKS = {
    ".gitignore": "# Made by torchrepro-lint.\n*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds a cache of torchrepro-lint.\n",
}


class Store:
    """Bytes by key. The ones put last are kept, as many as `MAX_ENTRIES` and `MAX_BYTES` allow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """The bytes of `key`, None where there are none."""
        return self._entries(key).get(key)

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Keeps the bytes under their keys, one word each. Where the folder cannot be written, nothing is kept, and
        nothing said.
        """
        kept = {key: data for key, data in entries.items() if len(data) <= MAX_BYTES}
        kept.update((key, data) for key, data in self._entries().items() if key not in entries)
        size = 0
        whole = [_FORMAT]
        for number, (key, data) in enumerate(kept.items()):
            size += len(data)
            if number >= MAX_ENTRIES or size > MAX_BYTES:
                break
            whole += (f"{key} {_digest(key, data)} {len(data)}\n".encode(), data)
        with suppress(OSError):
            self._make_folder()
            self._replace(whole)

    def _entries(self, wanted: str | None = None) -> dict[str, bytes]:
        """All whole entries, or only the one that is wanted."""
        found: dict[str, bytes] = {}
        with suppress(OSError, ValueError):
            # No link to elsewhere is followed, and a FIFO would wait for ever.
            file = self.folder / _FILE
            if file.is_symlink() or not file.is_file():
                return found
            with file.open("rb") as stream:
                if stream.readline(len(_FORMAT)) == _FORMAT:
                    _read(stream, wanted, found)
        return found

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in _MARKS.items():
            if not (self.folder / name).exists():
                (self.folder / name).write_text(text, encoding="utf-8")

    def _replace(self, parts: list[bytes]) -> None:
        descriptor, temporary = tempfile.mkstemp(prefix=".results-", dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.writelines(parts)
            os.replace(temporary, self.folder / _FILE)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise


def clean(folder: Path) -> bool:
    """Removes a cache: what this tool has written, and the folder if nothing else is in it. Whether there was one."""
    if folder.is_symlink() or not (folder / "CACHEDIR.TAG").is_file():
        return False
    for file in (*folder.glob(".results-*"), *(folder / name for name in (_FILE, *_MARKS))):
        with suppress(OSError):
            file.unlink()
    with suppress(OSError):
        folder.rmdir()
    return True


def _read(stream: BinaryIO, wanted: str | None, found: dict[str, bytes]) -> None:
    """Adds the entries of a file to `found`, up to the first that is not in order. ValueError at that one."""
    while line := stream.readline(1_000):
        key, digest, size = line.decode("ascii").split()
        length = int(size)
        if not 0 <= length <= MAX_BYTES:
            raise ValueError(size)
        if wanted is not None and key != wanted:
            stream.seek(length, os.SEEK_CUR)
            continue
        data = stream.read(length)
        if digest == _digest(key, data):
            found[key] = data


def _digest(key: str, data: bytes) -> str:
    digest = hashlib.blake2b(key.encode("ascii") + b"\n", digest_size=16)
    digest.update(data)
    return digest.hexdigest()
