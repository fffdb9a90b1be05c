"""The secret with which the cache is signed. What a repository brings along as a cache was not signed with it, and is
not read.

It lies in the user's own cache folder, never in a project: a program that is analysed could bring it along as well.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["SECRET_SIZE", "user_secret"]

SECRET_SIZE = 32
_FOLDER = "torchrepro-lint"
_FILE = "secret"


def user_secret(projects: Iterable[Path]) -> bytes | None:
    """The user's secret, made where there is none yet. None where it cannot be read or made, where others could read
    it, or where the user's cache folder lies in one of the `projects` (folders): then there is no cache.
    """
    folder = _user_cache()
    if folder is None:
        return None
    file = folder / _FOLDER / _FILE
    try:
        place = file.parent.resolve()
        if any(place.is_relative_to(project.resolve()) for project in projects):
            return None
        return _read(file) if os.path.lexists(file) else _made(file)
    except (OSError, RuntimeError):  # a loop of links, before Python 3.13
        return None


def _user_cache() -> Path | None:
    """Where programs keep what they can make again, by the customs of the platform."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA", ""))
        return local if local.is_absolute() else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if not home.is_absolute():
        return None
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def _read(file: Path) -> bytes | None:
    """The secret in the file, None where the file is not one that this user alone has written and can read."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not _is_private(found):
            return None
        data = stream.read(SECRET_SIZE + 1)
    return data if len(data) == SECRET_SIZE else None


def _is_private(found: os.stat_result) -> bool:
    # The rights of Windows are not in the mode; the folder there belongs to the user.
    return sys.platform == "win32" or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)


def _made(file: Path) -> bytes | None:
    """A new secret; of several processes that make one at the same time, all get that of the first."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = os.urandom(SECRET_SIZE)
    # It appears whole: `mkstemp` opens with O_EXCL and mode 600, and a link is never made over a file.
    descriptor, temporary = tempfile.mkstemp(prefix=f".{_FILE}-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secret)
        with suppress(FileExistsError):
            _place(Path(temporary), file, secret)
    finally:
        os.unlink(temporary)  # noqa: PTH108
    return _read(file)


def _place(temporary: Path, file: Path, secret: bytes) -> None:
    """Puts the secret in its place. FileExistsError where another process has been faster."""
    try:
        os.link(temporary, file)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError, AttributeError):  # a file system without hard links
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secret)
