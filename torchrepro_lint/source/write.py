"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError

__all__ = ["alone_in", "link_out_of", "refuse_if_changed", "write_atomically", "write_output"]

_TEMPORARY = "tmp"
_ABANDONED = 3_600  # seconds: no write takes as long, so that who made the file was killed
_JUST_MADE = 10  # seconds that a file may be empty for, and not locked yet


def write_atomically(path: Path, data: bytes, expected: bytes | None) -> None:
    """Replace the content of `path` by `data` in one step, keeping its mode bits, its extended attributes and, where
    permitted, its owner. `expected` is None for a file that is not there yet.

    A symbolic link stays, and its target is replaced. The new content goes to a temporary file in the target's
    folder first; an interruption at any point leaves either the old file or the new one, and no temporary file. A file
    with several names (hard links) is written in its place, so that it keeps them, once the temporary file is whole.

    Raises TorchReproLintError when the file no longer holds `expected`, or cannot be read or written.
    """
    target = Path(os.path.realpath(path))
    try:
        status = target.stat() if expected is not None else None
        if status is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        _refuse_if_changed(path, target, expected)
        _remove_abandoned(target)
        _replace(path, target, data, expected, status)
    except OSError as error:
        raise TorchReproLintError(f"{path}: not written: {error.strerror or error}") from error


def refuse_if_changed(path: Path, expected: bytes) -> None:
    """TorchReproLintError when the file no longer holds `expected`, or cannot be read."""
    try:
        _refuse_if_changed(path, path, expected)
    except OSError as error:
        raise TorchReproLintError(f"{path}: not written: {error.strerror or error}") from error


def link_out_of(folder: Path, path: Path) -> Path | None:
    """The file outside of `folder` that would be written if `path` were: it, or a folder on the way to it, is a link.
    None where the file lies in the folder.
    """
    target = Path(os.path.realpath(path))
    return None if target.is_relative_to(os.path.realpath(folder)) else target


@contextmanager
def alone_in(folders: Iterable[Path]) -> Iterator[None]:
    """While no other process that asks for the same writes into these folders; where the system knows no locks of
    folders, without.
    """
    with ExitStack() as stack:
        for folder in sorted(folders):
            with suppress(ImportError, OSError):
                import fcntl

                descriptor = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, descriptor)  # which gives the lock back, as the end of the process does
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def write_output(path: Path, text: str) -> None:
    """Write what a command was asked to make, in one step, whatever the file held before. What is no regular file, such
    as a pipe, is written to as it is.

    Raises TorchReproLintError when it cannot be written; a file that was there is then as it was.
    """
    data = text.encode("utf-8", "backslashreplace")  # the names of files may hold what UTF-8 has not
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        before = path.read_bytes() if path.exists() else None
    except OSError as error:
        raise TorchReproLintError(f"{path}: not written: {error.strerror or error}") from error
    write_atomically(path, data, before)


def _refuse_if_changed(path: Path, target: Path, expected: bytes | None) -> None:
    if expected is None:
        if target.exists():
            raise TorchReproLintError(f"{path}: not written: the file was created by something else in the meantime")
    elif target.read_bytes() != expected:
        raise TorchReproLintError(f"{path}: not written: the file has changed since it was read")


def _replace(path: Path, target: Path, data: bytes, expected: bytes | None, status: os.stat_result | None) -> None:
    # The name is known before the file exists, so that no interruption can leave a file whose name is lost.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.{_TEMPORARY}")
    held = ExitStack()
    try:
        # Exclusive, and unreadable for others until it has the mode of the file that it replaces.
        mode = 0o600 if status is not None else 0o666
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(descriptor, "wb") as stream:
            if _lock(stream.fileno()):
                held.callback(os.close, os.dup(stream.fileno()))  # which keeps the lock until the file has its name
            stream.write(data)
            stream.flush()
            if status is not None:
                _keep_attributes(target, temporary)
                _keep_owner_and_mode(temporary, status)
            os.fsync(stream.fileno())
        _refuse_if_changed(path, target, expected)
        if status is not None and status.st_nlink > 1:
            _overwrite(target, data)
        else:
            temporary.replace(target)
    finally:
        # KeyboardInterrupt comes through here too. After the replacement there is nothing left by that name.
        with suppress(OSError):
            temporary.unlink()
        held.close()


def _keep_owner_and_mode(temporary: Path, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        # Only root may give files away; a group that we are in can be kept also without the owner.
        try:
            os.chown(temporary, status.st_uid, status.st_gid)
        except OSError:
            with suppress(OSError):
                os.chown(temporary, -1, status.st_gid)
    # After chown, which clears the set-user-id bits.
    temporary.chmod(stat.S_IMODE(status.st_mode))


def _keep_attributes(old: Path, new: Path) -> None:
    """Copies the extended attributes, as far as the system knows them and permits it."""
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(old):
                with suppress(OSError):
                    os.setxattr(new, name, os.getxattr(old, name))


def _overwrite(target: Path, data: bytes) -> None:
    with target.open("r+b") as stream:
        stream.write(data)
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())


def _remove_abandoned(target: Path) -> None:
    """Removes what a run that was killed while it wrote the same file has left behind."""
    ours = re.compile(rf"\.{re.escape(target.name[:40])}\.[0-9a-f]{{12}}\.{_TEMPORARY}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    if _is_abandoned(Path(entry.path)):
                        os.unlink(entry.path)  # noqa: PTH108


def _is_abandoned(temporary: Path) -> bool:
    """Whether nobody writes a temporary file any more: who does so has it locked, until the end of its process. Where
    the system knows no such locks, its age says so.
    """
    status = temporary.lstat()
    age = time.time() - status.st_mtime
    if age > _ABANDONED:
        return True
    if not status.st_size and age < _JUST_MADE:
        return False
    descriptor = os.open(temporary, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        return _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Take the lock of a file; false where another process has it, or the system knows none."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
