"""Whether a path matches a pattern of a .gitignore file, in a time that grows as the product of their lengths.

A regular expression for a pattern with many stars tries all ways to share a path among them: `*a*a*a*b` on a long name
of a's does not end. Here each star takes as little as it can, which finds a match wherever there is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Glob", "count_stars"]

_STARS = re.compile(r"(?<!\\)\*+")
_CLASS = re.compile(r"\[(?P<not>[!^]?)(?P<body>\]?(?:\\.|\[:\w+:\]|[^\]])*)\]", re.DOTALL)


def count_stars(line: str) -> int:
    """How many places of a pattern may match any number of characters."""
    return len(_STARS.findall(line))


@dataclass(frozen=True, slots=True)
class _Part:
    """The pattern of one name in a path: what stands between its stars, in order. Without a star, one expression."""

    pieces: Sequence[re.Pattern[str]]

    def matches(self, name: str) -> bool:
        first, *between = self.pieces
        if not between:
            return first.fullmatch(name) is not None
        found = first.match(name)
        if found is None:
            return False
        place = found.end()
        for piece in between[:-1]:
            found = piece.search(name, place)
            if found is None:
                return False
            place = found.end()
        # Every piece matches texts of one length: the last one ends where the name does.
        return any(between[-1].fullmatch(name, start) for start in range(place, len(name) + 1))


class Glob:
    """One pattern, without the `!` of a negation. ValueError where it is none that can be matched."""

    def __init__(self, line: str) -> None:
        text = line if line.endswith("\\ ") else line.rstrip()
        self._folders_only = text.endswith("/")
        text = text.rstrip("/")
        anchored = "/" in text
        names = text.lstrip("/").split("/")
        if not anchored and names != ["**"]:
            names.insert(0, "**")
        self._parts: list[_Part | None] = [None if name == "**" else _part(name) for name in names]

    def matches(self, relative: str) -> bool:
        """Whether it names this path, with slashes, which ends with one where it is a folder."""
        if self._folders_only and not relative.endswith("/"):
            return False
        names = relative.rstrip("/").split("/")
        parts = self._parts
        at = place = 0
        retry: tuple[int, int] | None = None
        while place < len(names):
            part = parts[at] if at < len(parts) else None
            if part is None and at < len(parts):
                retry = (at, place)
                at += 1
                if at == len(parts):
                    return True  # `folder/**`: all that is in it
            elif part is not None and part.matches(names[place]):
                at, place = at + 1, place + 1
            elif retry is not None:
                at, place = retry[0] + 1, retry[1] + 1
                retry = (retry[0], place)
            else:
                return False
        return at == len(parts)


def _part(name: str) -> _Part:
    pieces: list[str] = [""]
    place = 0
    while place < len(name):
        character = name[place]
        if character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "."
        elif character == "\\" and place + 1 < len(name):
            place += 1
            pieces[-1] += re.escape(name[place])
        elif character == "[" and (found := _CLASS.match(name, place)) is not None:
            body = found["body"].replace("[:alnum:]", "A-Za-z0-9").replace("[:alpha:]", "A-Za-z")
            body = body.replace("[:digit:]", "0-9").replace("[:space:]", r"\s").replace("[", r"\[")
            pieces[-1] += f"[{'^' if found['not'] else ''}{body}]"
            place = found.end() - 1
        else:
            pieces[-1] += re.escape(character)
        place += 1
    try:
        return _Part([re.compile(piece, re.DOTALL) for piece in pieces])
    except re.error as error:
        raise ValueError(str(error)) from error
