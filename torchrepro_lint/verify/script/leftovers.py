"""What a run leaves in its folder: the next run finds it there, and does not begin as this one did."""

from __future__ import annotations

import os
from collections.abc import Iterator

_MOST = 20_000  # entries of the folder that are looked at: a folder of data is not walked to its end
_CACHES = ("__pycache__", "node_modules")


def written_since(folder: str, moment: float) -> tuple[str, ...]:
    """The files below a folder that were written after a moment (seconds since the epoch), relative to it, in order.

    Hidden folders and caches are passed by. A folder of very many files is looked at in part.
    """
    found = []
    for count, (path, status) in enumerate(_files(folder)):
        if count == _MOST:
            break
        if status.st_mtime >= moment:
            found.append(os.path.relpath(path, folder).replace(os.sep, "/"))
    return tuple(sorted(found))


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not entry.name.startswith(".") and entry.name not in _CACHES:
                            folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry.path, entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile, or not ours to read
            continue
