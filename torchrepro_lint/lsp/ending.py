"""The end of the server's process."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

__all__ = ["end_process"]


def end_process(status: int) -> NoReturn:
    """End the process with this exit status, without waiting for the thread of the analysis, which has nothing to lose:
    it writes no files.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the editor may have closed its end
            stream.flush()
    os._exit(status)
