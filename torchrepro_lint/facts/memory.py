"""What follows from the text of a file alone is kept as long as the text stays what it is."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable
from pathlib import Path
from typing import Generic, TypeVar

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.facts.module import UnreadableModule

__all__ = ["Recent", "TextMemory"]

_Key = TypeVar("_Key", bound=Hashable)
_Made = TypeVar("_Made")


class Recent(Generic[_Key, _Made]):
    """What was used last: as much as has the size `most` in all, or the last one, however large it is. Without `most`,
    everything.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._size = 0
        self._kept: dict[_Key, tuple[_Made, int]] = {}

    def get(self, key: _Key) -> _Made | None:
        """What is kept for a key, which is the last one used now."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if self._most is not None:
            self._kept[key] = self._kept.pop(key)
        return kept[0]

    def put(self, key: _Key, made: _Made, size: int) -> None:
        """Keeps something, and drops what was not used for the longest time."""
        self._drop(key)
        self._kept[key] = (made, size)
        self._size += size
        while self._most is not None and self._size > self._most and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def keep(self, keys: Container[_Key]) -> None:
        """Drops what is kept for other keys than these."""
        for key in [key for key in self._kept if key not in keys]:
            self._drop(key)

    def _drop(self, key: _Key) -> None:
        self._size -= self._kept.pop(key, (None, 0))[1]


class TextMemory(Generic[_Made]):
    """Calls `make` for a file and its text, or gives what it gave when the file had the same text before.

    A refusal to read the text is raised again. Only the last text of each file is kept, and `most` characters in all.
    """

    def __init__(self, make: Callable[[Path, str], _Made], most: int | None = None) -> None:
        self._make = make
        self._known: Recent[Path, tuple[str, _Made | Exception]] = Recent(most)

    def __call__(self, path: Path, text: str) -> _Made:
        known = self._known.get(path)
        if known is None or known[0] != text:
            try:
                known = (text, self._make(path, text))
            except (UnreadableModule, TorchReproLintError) as error:
                known = (text, error)
            self._known.put(path, known, len(text))
        if isinstance(known[1], Exception):
            raise known[1]
        return known[1]

    def keep(self, files: Container[Path]) -> None:
        """Drops what is known about other files than these."""
        self._known.keep(files)
