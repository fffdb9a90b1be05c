"""What answers rest on: the questions about texts that were asked on the way to them, as the bits of a number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from torchrepro_lint.program.looks import Looks, Question

__all__ = ["IMPORTS", "TracedLooks"]

#: The question which files import which.
IMPORTS: Final[Question] = ("imports", b"")

#: With more questions than this, some share a bit, so that now and then more is undone than must be.
_BITS: Final = 8_192


class TracedLooks(Looks):
    """The questions of a run, and those of the answer that is being worked on: `present`, a bit for each."""

    def __init__(self) -> None:
        super().__init__()
        self.present = 0
        self._bits: dict[Question, int] = {}

    def word(self, word: bytes) -> None:
        self.words.add(word)
        self.note(("word", word))

    def pattern(self, pattern: re.Pattern[bytes]) -> None:
        self.patterns.add(pattern)
        self.note(("pattern", pattern))

    def call(self, name: bytes) -> None:
        self.called.add(name)
        self.note(("call", name))

    def facts(self, path: Path) -> None:
        self.parsed.add(path)
        self.note(("facts", path))

    def text(self, path: Path) -> None:
        self.read.add(path)
        self.note(("text", path))

    def imports(self) -> None:
        self.note(IMPORTS)

    def note(self, question: Question) -> None:
        """The present answer rests on the answer to this question."""
        self.present |= self._bit(question)

    def mask(self, questions: Iterable[Question]) -> int:
        """The bits of these questions: what has one of them rests on one of these, or shares its bit."""
        mask = 0
        for question in questions:
            mask |= self._bit(question)
        return mask

    def _bit(self, question: Question) -> int:
        bit = self._bits.get(question)
        if bit is None:
            bit = self._bits[question] = 1 << len(self._bits) % _BITS
        return bit
