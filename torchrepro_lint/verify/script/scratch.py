"""Working folders in which a run may write as it likes: views of the user's folder, or copies, thrown away later."""

from __future__ import annotations

import copy
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.script import overlay
from torchrepro_lint.verify.script.entries import Place
from torchrepro_lint.verify.script.leftovers import files_below
from torchrepro_lint.verify.script.record import Record, RecordWriter

_SPARE = 1 << 30  # bytes of the disk that a copy must leave


@dataclass(frozen=True, slots=True)
class ScratchFolder:
    """What stands for the user's folder in one run: `view` are the folders of an overlay, or `copy` is a copy.

    `original` is the user's folder, as an absolute path. `replaced` are the files, relative to it, that have another
    content here from the start.
    """

    original: str
    upper: str
    work: str | None
    replaced: frozenset[str] = frozenset()

    @property
    def cwd(self) -> str:
        """Where the script is started."""
        return self.original if self.work is not None else self.upper

    @property
    def view(self) -> dict[str, Any] | None:
        """The arguments of `overlay.enter_view`, for the watched process; None where it starts in a copy."""
        return None if self.work is None else {"folder": self.original, "upper": self.upper, "work": self.work}

    def moved(self, word: str) -> str:
        """A word of the command, pointing into the copy if it is a path into the original."""
        if self.work is None and Path(word).is_absolute():
            return _moved(os.path.normpath(word), self.original, self.upper)
        return word

    def as_if_original(self, record: Record, path: Path) -> Record:
        """The record of a run in a copy, with the lines of the user's own files; `path`, its file, is written anew."""
        if self.work is not None:
            return record
        entries = tuple(
            replace(entry, place=entry.place and self.place(entry.place), via=entry.via and self.place(entry.via))
            for entry in record.entries
        )
        command = tuple(_moved(word, self.upper, self.original) for word in record.header.command)
        record = replace(record, header=replace(record.header, command=command), entries=entries)
        path.unlink()
        writer = RecordWriter(str(path), record.header)
        for entry in entries:
            writer.write(entry)
        return record

    def place(self, place: Place) -> Place:
        """A line of a file in a copy, as that of the user's own file."""
        return place if self.work is not None else replace(place, file=_moved(place.file, self.upper, self.original))

    def remove(self) -> None:
        """Throw away what the run has written."""
        shutil.rmtree(Path(self.upper).parent, ignore_errors=True)


class Scratch:
    """Makes scratch folders below `home`, for `folder`: views of it where the system has them for us, else copies.

    Raises:
        TorchReproLintError: there is no view, and a copy does not fit on the disk.
    """

    def __init__(self, folder: str, home: Path) -> None:
        self._folder = os.path.realpath(folder)
        self._home = home
        self._numbers = itertools.count(1)  # several threads may ask
        self._files: Mapping[str, bytes] = {}
        self.are_views = self._view_works()
        if not self.are_views:
            needed = sum(status.st_size for _, status in files_below(self._folder, home, everything=True))
            free = shutil.disk_usage(home).free
            if needed > free - _SPARE:
                raise TorchReproLintError(
                    f"--scratch: this system gives no copy-on-write view, and a copy of {self._folder} "
                    f"({needed / 2**30:.1f} GiB) does not fit into {home.parent} ({free / 2**30:.1f} GiB free)"
                )

    def holding(self, files: Mapping[str, bytes]) -> Scratch:
        """Scratch folders in which files, named relative to the folder and with slashes, have this content instead."""
        other = copy.copy(self)
        other._files = dict(files)
        return other

    def new(self) -> ScratchFolder:
        """A folder that is as the user's own is now, except for the files that it is to hold instead."""
        here = self._home / f"scratch-{next(self._numbers)}"
        upper, work = here / "folder", here / "work"
        here.mkdir()
        if self.are_views:
            upper.mkdir()
            work.mkdir()
        else:
            shutil.copytree(self._folder, upper, symlinks=True, ignore=self._ours)
        for name, content in self._files.items():
            _put(Path(self._folder), upper, name, content)
        return ScratchFolder(self._folder, str(upper), str(work) if self.are_views else None, frozenset(self._files))

    def _ours(self, folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder, name).resolve() == self._home]

    def _view_works(self) -> bool:
        if not sys.platform.startswith("linux") or self._home.is_relative_to(self._folder):
            return False
        folders = [self._home / name for name in ("try", "try-upper", "try-work")]
        for one in folders:
            one.mkdir()
        words = [sys.executable, "-I", "-S", overlay.__file__, *map(str, folders)]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _put(folder: Path, upper: Path, name: str, content: bytes) -> None:
    """Write a file below `upper` that has the mode of the user's own below `folder`, as have the folders on the way."""
    path = upper / name
    for above in reversed(path.relative_to(upper).parents[:-1]):
        if not (upper / above).exists():
            (upper / above).mkdir()
            shutil.copystat(folder / above, upper / above)
    path.unlink(missing_ok=True)  # a copy may be one file under several names
    path.write_bytes(content)
    shutil.copymode(folder / name, path)


def _moved(path: str, here: str, there: str) -> str:
    if path == here or path.startswith(here + os.sep):
        return there + path[len(here) :]
    return path
