"""What follows from the text of a file alone is kept as long as the text stays what it is."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from typing import Generic, TypeVar

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.facts.module import UnreadableModule

__all__ = ["TextMemory"]

_Made = TypeVar("_Made")


class TextMemory(Generic[_Made]):
    """Calls `make` for a file and its text, or gives what it gave when the file had the same text before.

    A refusal to read the text is raised again. Only the last text of each file is kept.
    """

    def __init__(self, make: Callable[[Path, str], _Made]) -> None:
        self._make = make
        self._known: dict[Path, tuple[str, _Made | Exception]] = {}

    def __call__(self, path: Path, text: str) -> _Made:
        known = self._known.get(path)
        if known is None or known[0] != text:
            try:
                known = (text, self._make(path, text))
            except (UnreadableModule, TorchReproLintError) as error:
                known = (text, error)
            self._known[path] = known
        if isinstance(known[1], Exception):
            raise known[1]
        return known[1]

    def keep(self, files: Container[Path]) -> None:
        """Drops what is known about other files than these."""
        self._known = {path: known for path, known in self._known.items() if path in files}
