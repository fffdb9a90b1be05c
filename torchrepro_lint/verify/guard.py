"""What ends watched processes and removes folders of recordings where verify itself cannot any more: when it is killed.

A process of its own is told of each group of processes and each folder, and of its end. The pipe on which it is told is
closed when verify ends, however that comes about; what is not over then, it ends and removes.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator

__all__ = ["group_ended", "group_started", "scratch_folder"]

_lock = threading.Lock()
_guard: subprocess.Popen[bytes] | None = None


def group_started(leader: int) -> None:
    """The process `leader` and all in its group are to be ended if this process is killed."""
    _tell("group", leader)


def group_ended(leader: int) -> None:
    """Nothing is left of the group: its number may soon be another's."""
    _tell("ended", leader)


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder for the records of runs that are not to be kept."""
    with tempfile.TemporaryDirectory(prefix="torchrepro-lint-", ignore_cleanup_errors=True) as folder:
        _tell("folder", folder)
        try:
            yield folder
        finally:
            _tell("removed", folder)


def _tell(what: str, which: int | str) -> None:
    global _guard
    with _lock, contextlib.suppress(OSError):  # one that somebody else has ended is missed only if we are killed too
        if _guard is None:
            _guard = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # what is sent to a terminal's processes, or to our group, is not for it
            )
            atexit.register(_dismiss)
        assert _guard.stdin is not None
        _guard.stdin.write(json.dumps([what, which]).encode() + b"\n")


def _dismiss() -> None:
    if _guard is not None:
        with contextlib.suppress(OSError):
            _guard.communicate()


def _watch() -> None:
    """What the guard does: listen until the pipe is closed, and clear up."""
    groups: set[int] = set()
    folders: set[str] = set()
    for line in sys.stdin.buffer:
        what, which = json.loads(line)
        if what in ("group", "ended"):
            (groups.add if what == "group" else groups.discard)(which)
        else:
            (folders.add if what == "folder" else folders.discard)(which)
    for leader in groups:
        # As a fork has no group of its own yet when it begins, it is ended itself as well.
        for end in (getattr(os, "killpg", None), os.kill):
            with contextlib.suppress(OSError):
                if end is not None:
                    end(leader, getattr(signal, "SIGKILL", signal.SIGTERM))
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _watch()
