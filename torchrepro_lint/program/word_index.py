"""Which files hold which words: asked hundreds of times in a run, and answered from one pass over the bytes."""

from __future__ import annotations

import re
import sys
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as constants
    from re import _parser as parser
else:
    import sre_constants as constants
    import sre_parse as parser

__all__ = ["WordIndex", "any_word", "finds", "part_of_word", "required_words", "words_of"]

_WORD = re.compile(rb"[A-Za-z0-9_]+")
#: Blanks for all that stands between words: to split at blanks takes half the time that a pattern does.
_BLANKED = bytes(code if _WORD.fullmatch(bytes((code,))) else ord(" ") for code in range(256))
_SHORTEST = 3  # a shorter piece is in nearly every file
#: With more pieces than this, to look for each of them costs what the pattern does.
_FEW = 4
# The patterns that `any_word` has made, with their words: an index of words knows what they find.
_ANY_WORD: dict[re.Pattern[bytes], frozenset[bytes]] = {}
# And those of `part_of_word`: they are tried on each word once, not on all texts.
_PART_OF_WORD: set[re.Pattern[bytes]] = set()


class WordIndex:
    """The words of numbered texts. A word is a run of ASCII letters, digits and underscores."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._texts: dict[bytes, list[int]] = {}
        for number, data in enumerate(texts):
            for word in words_of(data):
                if word in self._texts:
                    self._texts[word].append(number)
                else:
                    self._texts[word] = [number]

    @cached_property
    def _all(self) -> bytes:
        """All words, each between two newlines."""
        return b"\n" + b"\n".join(self._texts) + b"\n"

    def replace(self, number: int, old: bytes, new: bytes) -> None:
        """Takes the text of this number to be `new`, which was `old`."""
        before, after = words_of(old), words_of(new)
        for word in before - after:
            self._texts[word].remove(number)
        for word in after - before:
            if word not in self._texts:
                self._texts[word] = []
                self.__dict__.pop("_all", None)
            insort(self._texts[word], number)

    def holding(self, word: bytes) -> Sequence[int]:
        """The texts in which `word` is, in order."""
        return self._texts.get(word, ())

    def holding_any(self, pattern: re.Pattern[bytes]) -> list[int] | None:
        """The texts in which a pattern of `any_word` or `part_of_word` finds something, in order; None for others."""
        words: Iterable[bytes] | None = _ANY_WORD.get(pattern)
        if pattern in _PART_OF_WORD:
            words = filter(pattern.search, self._texts)
        return None if words is None else sorted({number for word in words for number in self.holding(word)})

    def may_match(self, pattern: re.Pattern[bytes]) -> list[int] | None:
        """The texts in which the pattern could find something, in order; None where that cannot be said."""
        needed = required_words(pattern)
        if needed is None:
            return None
        return sorted({number for piece in needed for word in self._with(piece) for number in self._texts[word]})

    def holds_any(self, pieces: Iterable[bytes]) -> bool:
        """Whether one of these pieces of words is in a text."""
        return any(piece in self._all for piece in pieces)

    def _with(self, piece: bytes) -> Iterator[bytes]:
        """The words in which a piece of a word is."""
        at = self._all.find(piece)
        while at != -1:
            start = self._all.rfind(b"\n", 0, at) + 1
            end = self._all.index(b"\n", at)
            yield self._all[start:end]
            at = self._all.find(piece, end)


def words_of(data: bytes) -> set[bytes]:
    """The words of a text."""
    return set(data.translate(_BLANKED).split())


def any_word(words: Iterable[str]) -> re.Pattern[bytes]:
    """Finds one of these identifiers, as a whole word, in the bytes of a text."""
    encoded = sorted(word.encode() for word in words)
    pattern = re.compile(rb"(?<![A-Za-z0-9_])(?:%s)(?![A-Za-z0-9_])" % b"|".join(map(re.escape, encoded)))
    if all(_WORD.fullmatch(word) for word in encoded):
        _ANY_WORD[pattern] = frozenset(encoded)
    return pattern


def part_of_word(pattern: str) -> re.Pattern[bytes]:
    """Finds, in the bytes of a text, what this pattern finds of identifiers in upper or lower case. What it matches has
    ASCII letters, digits and underscores alone, and it looks no further around than for these.
    """
    compiled = re.compile(pattern.encode(), re.IGNORECASE)
    _PART_OF_WORD.add(compiled)
    return compiled


def finds(pattern: re.Pattern[bytes], data: bytes) -> bool:
    """Whether the pattern finds something in a text. The few pieces that all its finds have are looked for first, which
    is sooner done.
    """
    pieces = required_words(pattern)
    if pieces is not None and len(pieces) <= _FEW and not any(piece in data for piece in pieces):
        return False
    return pattern.search(data) is not None


@lru_cache(maxsize=2_000)
def required_words(pattern: re.Pattern[bytes]) -> frozenset[bytes] | None:
    """Pieces of words of which one is in all that the pattern matches; None where there are no such pieces."""
    if pattern.flags & re.IGNORECASE:
        return None
    return _required(parser.parse(pattern.pattern, pattern.flags))  # type: ignore[arg-type]


def _required(sequence: Any) -> frozenset[bytes] | None:
    found: list[frozenset[bytes]] = []
    run = b""
    for operation, argument in (*sequence, (None, None)):
        if operation is constants.LITERAL and argument < 128 and _WORD.fullmatch(bytes((argument,))):
            run += bytes((argument,))
            continue
        if len(run) >= _SHORTEST:
            found.append(frozenset((run,)))
        run = b""
        inner = _inner(operation, argument)
        if inner is not None:
            found.append(inner)
    # Of several parts that must all be there, the one that tells most.
    return max(found, key=lambda pieces: (min(map(len, pieces)), -len(pieces), sorted(pieces)), default=None)


def _inner(operation: Any, argument: Any) -> frozenset[bytes] | None:
    if operation is constants.BRANCH:
        branches = [_required(branch) for branch in argument[1]]
        if all(branch is not None for branch in branches):
            return frozenset(piece for branch in branches for piece in branch or ())
        return None
    if operation is constants.SUBPATTERN:
        return None if argument[1] & re.IGNORECASE else _required(argument[3])
    if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT) and argument[0] > 0:
        return _required(argument[2])
    return None
