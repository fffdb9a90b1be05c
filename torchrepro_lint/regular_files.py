"""Reading the files of a project that are not Python: regular files alone, and none beyond a size.

A repository may hold links to devices, pipes that nobody writes to, and files that are larger than the memory. Such a
file is not read, the run goes on as if it were not there, and a notice names it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

__all__ = ["LARGEST", "NotRegular", "collected_notices", "note", "read_if_there", "read_regular"]

#: Lock files of large repositories have a few megabytes.
LARGEST = 32_000_000

_notices: ContextVar[dict[Path, str] | None] = ContextVar("notices", default=None)


class NotRegular(OSError):
    """A path where there is no regular file, or one that is too large. `strerror` says so in a few words."""


def read_regular(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a file. OSError where it cannot be read; NotRegular, which is one, where it is not to be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a device may do something already
            _refuse(path)
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # a null character
        raise NotRegular(errno.EINVAL, "not a name of a file", str(path)) from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
            raise NotRegular(error.errno, error.strerror, str(path)) from error
        raise
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            _refuse(path)
        data = stream.read(largest + 1)
    if len(data) > largest:
        raise NotRegular(errno.EFBIG, f"larger than {largest:,} bytes", str(path))
    return data


def _refuse(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise NotRegular(errno.EINVAL, "not a regular file", str(path))


def read_if_there(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a file; empty where there is none, or where it is not read, which is noted."""
    try:
        return read_regular(path, largest)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return b""
    except OSError as error:
        note(path, f"not read: {error.strerror or error}")
        return b""


def note(path: Path, text: str) -> None:
    """Has the run say this of a file that is not as it should be. The first remark on a file counts."""
    notices = _notices.get()
    if notices is not None:
        notices.setdefault(path, text)


@contextmanager
def collected_notices() -> Iterator[dict[Path, str]]:
    """Collects the remarks that are made inside, by file; those within another such block are that one's."""
    around = _notices.get()
    if around is not None:
        yield around
        return
    notices: dict[Path, str] = {}
    token = _notices.set(notices)
    try:
        yield notices
    finally:
        _notices.reset(token)
