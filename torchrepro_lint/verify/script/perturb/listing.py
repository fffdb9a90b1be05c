"""Every directory listing in another order than the file system gives it."""

from __future__ import annotations

import glob
import hashlib
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, TracebackType
from typing import Any, TypeVar

Item = TypeVar("Item")


def permute(seed: int, met: Callable[[], None]) -> None:
    """Permute what `os.listdir` and `os.scandir` give, and with them `os.walk`, `glob` and `pathlib`.

    The same seed gives the same names the same order in every process, whatever order they come in, unless the first or
    the last would be that of the file system itself, which a program may take alone: then it is turned round. Folders
    of the Python installation and of the kernel are left alone: they are not data of the program. `met` is called when
    a listing has changed.
    """

    def shuffled(path: Any, items: list[Item], name: Callable[[Item], bytes]) -> list[Item]:
        if len(items) < 2 or _is_of_the_system(path):
            return items
        met()
        other = sorted(items, key=lambda item: _rank(seed, name(item)))
        turned = (other[at:] + other[:at] for at in range(len(other)))
        return next((one for one in turned if one[0] != items[0] and one[-1] != items[-1]), other)

    list_names, scan = os.listdir, os.scandir

    def listdir(path: Any = None) -> list[Any]:
        return shuffled(path, list_names(path), os.fsencode)

    def scandir(path: Any = None) -> _Entries:
        with scan(path) as entries:
            return _Entries(shuffled(path, list(entries), lambda entry: os.fsencode(entry.name)))

    for original, replacement in ((list_names, listdir), (scan, scandir)):
        setattr(os, original.__name__, replacement)
        for module in (glob, pathlib):
            _replace_copies(module, original, replacement)


_OF_THE_SYSTEM = tuple({os.path.join(root, "") for root in (sys.prefix, sys.base_prefix, "/proc", "/sys", "/dev")})


def _is_of_the_system(path: Any) -> bool:
    # A number is an open folder, of which the name is not known.
    return not isinstance(path, int) and os.path.abspath(os.fsdecode(path or ".")).startswith(_OF_THE_SYSTEM)


def _rank(seed: int, name: bytes) -> bytes:
    return hashlib.blake2b(name, digest_size=8, salt=seed.to_bytes(8, "little")).digest()


def _replace_copies(module: ModuleType, original: object, replacement: Callable[..., object]) -> None:
    """Some versions of Python keep the functions as attributes of classes, which hold on to them from their import."""
    for holder in [vars(module)[name] for name in list(vars(module)) if isinstance(vars(module)[name], type)]:
        for name, value in list(vars(holder).items()):
            if value is original or (isinstance(value, staticmethod) and value.__func__ is original):
                setattr(holder, name, staticmethod(replacement))


class _Entries(Iterator["os.DirEntry[Any]"]):
    """What `os.scandir` gives: an iterator that can be closed, and that is its own context."""

    def __init__(self, entries: list[os.DirEntry[Any]]) -> None:
        self._entries = iter(entries)

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration."""
        self._entries = iter(())
