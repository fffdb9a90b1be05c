"""Whether a file was changed since it was looked at, in a process that outlives the change."""

from __future__ import annotations

from pathlib import Path

__all__ = ["stamp"]


def stamp(path: Path) -> tuple[int, int]:
    """When a file was written, in nanoseconds, and its size in bytes; zeros where there is none."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
