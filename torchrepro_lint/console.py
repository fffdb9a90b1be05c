"""How the tool speaks to the person who runs it, whichever door was used."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

__all__ = ["PROGRAM", "StatusLine", "counted", "did_you_mean", "print_errors", "printable"]

PROGRAM = "torchrepro-lint"
# How alike a mistyped word and a known one must be: "nope" is not "ignore" (0.6).
_ALIKE = 0.65


def print_errors(messages: Iterable[object], program: str = PROGRAM) -> None:
    """What went wrong, one line each on standard error, with the program's name in front. Where nobody can be told, the
    exit status has to do.
    """
    with suppress(OSError):
        for message in messages:
            print(f"{program}: {printable(str(message))}", file=sys.stderr)


def printable(text: str) -> str:
    """`text` on one line and without control characters, which would play with the terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the known word nearest to `word`, empty where none is near."""
    # Options are compared without their leading dashes, which would make short ones look alike.
    words = {one.lstrip("-"): one for one in known}
    word = word.lstrip("-")
    near = difflib.get_close_matches(word, list(words), n=1, cutoff=_ALIKE) or _longer_or_shorter(word, words)
    return f'; did you mean "{words[near[0]]}"?' if near else ""


def _longer_or_shorter(word: str, known: Iterable[str]) -> list[str]:
    """The one known word that has all parts of `word`, or of which `word` has all: `format` and `output-format`."""
    parts = set(word.split("-"))
    found = [one for one in known if parts <= set(one.split("-")) or parts >= set(one.split("-"))]
    return found if len(found) == 1 else []


class StatusLine:
    """A line on a terminal that is overwritten, and removed at the end. If it is no terminal, nothing is written."""

    def __init__(self, stream: TextIO, *, shown: bool = True) -> None:
        is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._stream = stream if shown and is_terminal else None
        self._shown = False

    @classmethod
    @contextmanager
    def on(cls, stream: TextIO, *, shown: bool = True) -> Iterator[StatusLine]:
        """A line that is removed when the block ends, also by an exception."""
        line = cls(stream, shown=shown)
        try:
            yield line
        finally:
            line.clear()

    @property
    def is_seen(self) -> bool:
        """Whether there is a terminal to show it."""
        return self._stream is not None

    def show(self, text: str) -> None:
        """Show `text`, as much of it as fits."""
        if self._stream is not None:
            width = shutil.get_terminal_size().columns
            self._stream.write(f"\r\x1b[K{text[: width - 1]}")
            self._stream.flush()
            self._shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self._stream is not None and self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False
