"""Ending a process together with everything that it has started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from types import FrameType


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the process group; the leader has ended already unless it ran out of time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


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
