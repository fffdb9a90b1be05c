"""Starting a process that can be ended together with everything that it starts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from torchrepro_lint.verify.guard import group_ended, group_started


def start_group(arguments: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a process as the leader of a group, which ends at the latest with this process, even if that is killed.
    The options are those of `subprocess.Popen`.
    """
    process = subprocess.Popen(arguments, start_new_session=True, **options)
    group_started(process.pid)
    return process


def end_group(process: subprocess.Popen[Any]) -> None:
    """End what is left of the process group; the leader has ended already unless it ran out of time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    group_ended(process.pid)


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Within it, a request to end (SIGTERM, as of `timeout` and of CI, or SIGHUP) is an exception, as Ctrl-C is: what
    this process has started is in groups of its own, which would go on for ever.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    taken = [one for one in asked if signal.getsignal(one) is signal.SIG_DFL]  # `nohup` leaves SIGHUP ignored
    for one in taken:
        signal.signal(one, _end)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
