"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError

__all__ = ["write_atomically", "write_output"]


def write_atomically(path: Path, data: bytes, expected: bytes | None) -> None:
    """Replace the content of `path` by `data` in one step, keeping its mode bits and, where permitted, its owner.
    `expected` is None for a file that is not there yet.

    A symbolic link stays, and its target is replaced. The new content goes to a temporary file in the target's
    folder first; an interruption at any point leaves either the old file or the new one, and no temporary file.

    Raises TorchReproLintError when the file no longer holds `expected`, or cannot be read or written.
    """
    target = Path(os.path.realpath(path))
    try:
        status = target.stat() if expected is not None else None
        if status is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        _refuse_if_changed(path, target, expected)
        _replace(path, target, data, expected, status)
    except OSError as error:
        raise TorchReproLintError(f"{path}: not written: {error.strerror or error}") from error


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
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")
    try:
        # Exclusive, and unreadable for others until it has the mode of the file that it replaces.
        mode = 0o600 if status is not None else 0o666
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if status is not None:
                _keep_owner_and_mode(temporary, status)
            os.fsync(stream.fileno())
        _refuse_if_changed(path, target, expected)
        temporary.replace(target)
    finally:
        # KeyboardInterrupt comes through here too. After the replacement there is nothing left by that name.
        with suppress(OSError):
            temporary.unlink()


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
