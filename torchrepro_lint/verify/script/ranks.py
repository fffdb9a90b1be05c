"""Several ranks of one script, as torchrun starts them on one machine: in the watched process of rank 0.

Only Python's own library is needed. Rank 0 starts the others, so that all see the same view of the working folder and
are in one group of processes; when one of them fails, it ends the rest.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence

_GRACE = 5.0  # seconds that the other ranks have to end when one has ended


def rank_name(rank: int) -> str:
    """The name of a rank's process in a record; that of rank 0 is the main process."""
    return f"rank {rank}"


def free_port() -> int:
    """A port at which rank 0 can be met."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def variables(rank: int, count: int, port: int) -> dict[str, str]:
    """The environment variables that torchrun gives a rank.

    Source: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
    """
    given = {} if "OMP_NUM_THREADS" in os.environ else {"OMP_NUM_THREADS": "1"}
    return given | {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "GROUP_RANK": "0",
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "GROUP_WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_RUN_ID": "verify",
    }


class OtherRanks:
    """The ranks beside rank 0. One that fails ends rank 0, which may wait for it; rank 0 waits for them at its end."""

    def __init__(self, commands: Sequence[Sequence[str]], environments: Sequence[Mapping[str, str]]) -> None:
        started = zip(commands, environments, strict=True)
        self._running = {os.posix_spawn(sys.executable, list(command), dict(given)) for command, given in started}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, args=(self._end_this,), daemon=True).start()

    def wait(self) -> None:
        """Wait for the others to end, as long as they may, and end them then."""
        end = time.monotonic() + _GRACE
        while self._running and time.monotonic() < end:
            time.sleep(0.02)
        for pid in list(self._running):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _watch(self, failed: Callable[[], None]) -> None:
        while self._running:
            for pid in list(self._running):
                try:
                    ended, status = os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    ended, status = pid, 0
                if ended:
                    self._running.discard(pid)
                    if status:
                        time.sleep(_GRACE)
                        failed()
            time.sleep(0.05)

    def _end_this(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
