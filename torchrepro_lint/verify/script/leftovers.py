"""What a run leaves in its folder: the next run finds it there, and does not begin as this one did."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

_MOST = 20_000  # entries of the folder that are looked at: a folder of data is not walked to its end
_CACHES = ("__pycache__", "node_modules")
_LARGEST = 1 << 28  # bytes of a file that is read to its end


def written_since(folder: str, moment: float, ours: Path) -> tuple[str, ...]:
    """The files below a folder that were written after a moment (seconds since the epoch), relative to it, in order.

    Hidden folders and caches are passed by, and the folder of the records, which is `ours`. A folder of very many files
    is looked at in part.
    """
    found = []
    for count, (path, status) in enumerate(files_below(folder, ours)):
        if count == _MOST:
            break
        if status.st_mtime >= moment:
            found.append(os.path.relpath(path, folder).replace(os.sep, "/"))
    return tuple(sorted(found))


def content(path: Path) -> str | None:
    """A hash of a file's content; None where it is very large, or cannot be read."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
    except OSError:  # gone meanwhile, or not ours to read
        return None


def files_below(folder: str, ours: Path, everything: bool = False) -> Iterator[tuple[str, os.stat_result]]:
    """The files below a folder, without those in `ours`; with `everything`, those in hidden folders and caches too."""
    folders, own = [folder], str(ours)
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        passed_by = not everything and (entry.name.startswith(".") or entry.name in _CACHES)
                        if not passed_by and os.path.realpath(entry.path) != own:
                            folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry.path, entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile, or not ours to read
            continue
