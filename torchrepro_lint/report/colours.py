"""Colour on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TextIO

__all__ = ["ColourChoice", "Colours", "wants_colour"]

ColourChoice = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Colours:
    """Wraps text in the escape sequences of a style; where `on` is false it gives the text back."""

    on: bool

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text

    def strong(self, text: str) -> str:
        """What identifies."""
        return self._wrap("1", text)

    def bad(self, text: str) -> str:
        """An error."""
        return self._wrap("1;31", text)

    def fragile(self, text: str) -> str:
        """A warning."""
        return self._wrap("1;33", text)

    def good(self, text: str) -> str:
        """What is added, and what passed."""
        return self._wrap("32", text)

    def gone(self, text: str) -> str:
        """What is taken away."""
        return self._wrap("31", text)

    def frame(self, text: str) -> str:
        """Rows and rulers around code."""
        return self._wrap("1;34", text)

    def note(self, text: str) -> str:
        """Marks and hints."""
        return self._wrap("36", text)

    def faint(self, text: str) -> str:
        """What is in the background."""
        return self._wrap("2", text)


def wants_colour(choice: ColourChoice, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to colour what goes to `stream`. FORCE_COLOR and NO_COLOR (https://no-color.org) speak where the command
    line leaves it open; a terminal that cannot, or no terminal, gets none.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"
