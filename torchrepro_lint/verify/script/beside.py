"""Runs beside each other, where that changes nothing: each of them has its files for itself, and a core."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from torchrepro_lint.verify.script.launch import Launcher, Run

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

T = TypeVar("T")

_MEMORY = 0.7  # the part of the free memory that runs may take together


def room_for(first: Run, most: int, *, own_files: bool) -> int:
    """How many runs like the first one, which was alone, may be made at a time: at most `most`, at least 1.

    Only one at a time where it wrote files that the others would meet (unless each has its `own_files`), where it used
    a GPU, of which the runs would share the memory, or where it went wrong.
    """
    record = first.record
    if resource is None or record is None or first.trouble is not None or (first.wrote and not own_files):
        return 1
    if any(name.startswith("gpu ") for name in record.environment):
        return 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = max(1.0, (used.ru_utime + used.ru_stime) / max(first.seconds, 0.001))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    room = min(most, round(cores / busy))
    if (free := _free_memory()) is not None:
        room = min(room, int(_MEMORY * free / max(1, used.ru_maxrss * 1024)))
    return max(1, room)


def beside(tasks: Sequence[Callable[[], T]], room: int, launcher: Launcher) -> list[T]:
    """What the tasks give, in order; at most `room` of them are under way at a time.

    Where this is interrupted, the runs that the launcher has under way are ended first.
    """
    if room == 1 or len(tasks) < 2:
        return [task() for task in tasks]
    with ThreadPoolExecutor(room) as threads:
        futures = [threads.submit(task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            launcher.stop()
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def _free_memory() -> int | None:
    """Bytes; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
