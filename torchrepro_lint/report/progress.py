"""How far a check has come, for users who wait longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable

from torchrepro_lint.console import StatusLine

__all__ = ["Bar"]

_PATIENCE = 1.0  # seconds before anything is shown
_EVERY = 0.1  # seconds between two looks of the line
_WIDTH = 24


class Bar:
    """A bar on a line of the terminal. `now` is a clock, in seconds."""

    def __init__(self, line: StatusLine, now: Callable[[], float] = time.monotonic) -> None:
        self._line = line
        self._now = now
        self._next = now() + _PATIENCE

    def __call__(self, share: float, what: str) -> None:
        """Say that a share (0 to 1) of the work is done, and what is being done now."""
        if not self._line.is_seen or self._now() < self._next:
            return
        self._next = self._now() + _EVERY
        done = int(share * _WIDTH)
        self._line.show(f"[{'=' * done}{' ' * (_WIDTH - done)}] {share:4.0%} {what}")
