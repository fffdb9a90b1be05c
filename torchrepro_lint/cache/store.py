"""The folder of the cache and the files in it. A file is replaced as a whole, so that a run that is killed, or another
at the same time, leaves a whole one behind; of two that write at once, the later one's is kept. A file that is not in
order counts as empty.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from torchrepro_lint.cache.entries import FORMAT, Entry, entries_of

__all__ = ["DIGESTS", "FOLDER", "RESULTS", "Store", "clean"]

FOLDER = ".torchrepro-lint-cache"
RESULTS = "results"
DIGESTS = "digests"  # a file of its own: it is small, and changes with every file of the project

MAX_ENTRIES = 48
MAX_BYTES = 64_000_000

_TAG = "CACHEDIR.TAG"
_MARKS = {
    ".gitignore": "# Made by torchrepro-lint.\n*\n",
    _TAG: "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds a cache of torchrepro-lint.\n",
}


_TEMPORARY = ".results-"
_ABANDONED = 3_600  # seconds: no write takes as long
_LOCK = f"{_TEMPORARY}lock-"  # and the last digit of the key


def _is_own(name: str) -> bool:
    """Whether this is what a file of the cache is called."""
    return name in (RESULTS, DIGESTS, *_MARKS) or name.startswith(_TEMPORARY)


class Store:
    """Bytes by key, in one file of the folder. The ones put last are kept, as many as `MAX_ENTRIES` and `MAX_BYTES`
    allow. Only what is signed with the secret is given.
    """

    def __init__(self, folder: Path, secret: bytes, name: str = RESULTS) -> None:
        self.folder = folder
        self._file = folder / name
        self._secret = secret

    def refusal(self) -> str | None:
        """Why nothing may be read or written here: the folder is a link, is none, or holds a file of that name that is
        not of a cache. None where it may.
        """
        if self.folder.is_symlink():
            return "is a link: the run goes on without a cache"
        if self.folder.is_file():
            return "is not a folder: the run goes on without a cache"
        files = [self.folder / name for name in (RESULTS, DIGESTS)]
        if not _is_ours(self.folder / _TAG) and any(os.path.lexists(file) and not _is_ours(file) for file in files):
            return "holds files that torchrepro-lint has not written: the run goes on without a cache"
        return None

    def get(self, key: str) -> bytes | None:
        """The bytes of `key`, None where there are none."""
        with suppress(OSError), self._opened() as entries:
            if key in entries:
                return entries[key].data(self._secret)
        return None

    def pieces(self, key: str, places: Iterable[tuple[int, int]]) -> list[bytes]:
        """The parts of the bytes of `key` at these places, each a start and a size. None of them is checked, as the
        whole is not read: the caller must check whether they are right. Empty where there are none.
        """
        with suppress(OSError), self._opened() as entries:
            if key in entries:
                return [entries[key].piece(start, size) for start, size in places]
        return []

    def put(self, entries: Mapping[str, bytes], used: Iterable[str] = ()) -> None:
        """Keeps the bytes under their keys, one word each; what is kept under the keys `used` counts as put last too.
        Where the folder cannot be written, nothing is kept, and nothing said.
        """
        with suppress(OSError), self._opened() as known:
            new = {key: Entry.of(key, data, self._secret) for key, data in entries.items()}
            whole = {**known, **new}
            self._make_folder()
            kept = _bounded(whole[key] for key in dict.fromkeys((*new, *used, *known)) if key in whole)
            self._replace(self._file, chain([FORMAT], chain.from_iterable(one.written() for one in kept)))

    @contextmanager
    def locked(self, key: str, wait: float) -> Iterator[None]:
        """With the lock of `key`, or without it after another process has had it, after so many seconds, or where it
        cannot be had. Who has waited for a result does not keep the next one waiting, should there be none.

        The system takes the lock from a process that ends. Keys share sixteen, so that there are never more files.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / f"{_LOCK}{key[-1]}")
        # A timeout is an OSError; some file systems have no locks.
        with suppress(OSError, NotImplementedError):
            self._make_folder()
            try:
                lock.acquire(timeout=0)
            except Timeout:
                lock.acquire(timeout=wait)
                lock.release()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _opened(self) -> Iterator[Mapping[str, Entry]]:
        """The entries of the file while it is open; none where there is no file."""
        try:
            # No link to elsewhere is followed, and a FIFO would wait for ever.
            stream = self._file.open("rb") if stat.S_ISREG(self._file.lstat().st_mode) else None
        except OSError:
            stream = None
        if stream is None:
            yield {}
        else:
            with stream:
                yield entries_of(stream)

    def _make_folder(self) -> None:
        if (refusal := self.refusal()) is not None:
            raise OSError(f"{self.folder} {refusal}")
        self.folder.mkdir(parents=True, exist_ok=True)
        there = {path.name for path in self.folder.iterdir()}
        if not all(_is_own(name) for name in there):
            return  # what else stands there is for Git and for backups
        for name in there - {RESULTS, DIGESTS, *_MARKS}:
            if not name.startswith(_LOCK):
                _remove_abandoned(self.folder / name)
        for name, text in _MARKS.items():
            # A full disk may have cut it off.
            if name not in there or _is_beginning(self.folder / name, text.encode()):
                self._replace(self.folder / name, [text.encode()])

    def _replace(self, file: Path, pieces: Iterable[bytes]) -> None:
        descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                for piece in pieces:
                    stream.write(piece)
            os.replace(temporary, file)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise


def _is_beginning(file: Path, data: bytes) -> bool:
    """Whether a file holds the beginning of `data` and no more."""
    with suppress(OSError):
        if stat.S_ISREG(file.lstat().st_mode) and file.stat().st_size < len(data):
            return data.startswith(file.read_bytes())
    return False


def _remove_abandoned(file: Path) -> None:
    """Removes a temporary file that a run has left behind which was killed."""
    with suppress(OSError):
        if stat.S_ISREG(file.lstat().st_mode) and file.lstat().st_mtime < time.time() - _ABANDONED:
            file.unlink()


def clean(folder: Path) -> bool:
    """Removes a cache: what this tool has written, and the folder if nothing else is in it. Whether there was one."""
    entries = [] if folder.is_symlink() else _entries(folder)
    tagged = any(file.name == _TAG and _is_ours(file) for file in entries)
    own = [file for file in entries if _is_ours(file) or (tagged and file.name not in _MARKS and _is_own(file.name))]
    for file in own:
        with suppress(OSError):
            file.unlink()
    with suppress(OSError):
        folder.rmdir()
    return bool(own)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_ours(file: Path) -> bool:
    """Whether the file begins as this tool writes it: a folder that others use as well may have a `.gitignore`."""
    begin = _MARKS.get(file.name, "").encode() or FORMAT.rpartition(b" ")[0]
    try:
        if not _is_own(file.name) or not stat.S_ISREG(file.lstat().st_mode):
            return False
        with file.open("rb") as stream:
            return stream.read(len(begin)) == begin
    except OSError:
        return False


def _bounded(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The first of the entries, as many as are kept."""
    size = 0
    for number, entry in enumerate(one for one in entries if one.size <= MAX_BYTES):
        size += entry.size
        if number >= MAX_ENTRIES or size > MAX_BYTES:
            return
        yield entry
