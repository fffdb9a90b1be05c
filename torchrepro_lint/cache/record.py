"""What a run has seen of the files: whether its answer still holds after a few of them have changed.

A record holds the questions that the run has asked of the texts (`program.looks`). The texts, compressed, are kept
beside it, one after the other: of those only the ones of the files that have changed are read. For such a file both
texts are asked: where each question has the same answer, so has the run. Files are numbered: the record is only looked
up where they are the same ones, in the same order.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from torchrepro_lint.cache.key import DIGEST_SIZE, digest_of
from torchrepro_lint.source.cells import is_notebook
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.noqa import may_silence
from torchrepro_lint.source.prefilter import is_wanted
from torchrepro_lint.source.text import Source, SourceError, decode

if TYPE_CHECKING:
    from torchrepro_lint.program.looks import Looks

__all__ = ["MAX_CHANGED", "Pieces", "Record", "record_of"]

# What a cache that is not in order may lead to.
_NOT_IN_ORDER = (
    SourceError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, re.error,
    zlib.error,
)  # fmt: skip

MAX_CHANGED = 64  # with more, a run that looks for itself is as fast

_FASTEST = 1

# The pieces are not signed one by one, and a few bytes can be packed from any number of zeros.
_LONGEST = 64_000_000

#: Gives parts of the texts of a record, each named by its start and its size. What it gives need not be right.
Pieces: TypeAlias = Callable[[Sequence[tuple[int, int]]], Sequence[bytes]]


def record_of(
    report: str, looks: Iterable[Looks], digests: Mapping[Path, bytes], texts: Iterable[bytes]
) -> tuple[bytes, bytes]:
    """A record of the run whose report is kept under the key `report`, and its texts. `digests` and `texts` are of the
    files in their order.
    """
    from torchrepro_lint.program.looks import Looks

    whole = Looks()
    for one in looks:
        whole.merge(one)
    numbers = {path: number for number, path in enumerate(digests)}
    packed = [zlib.compress(data, _FASTEST) for data in texts]
    head = {
        "report": report,
        "digests": b"".join(digests.values()).hex(),
        "sizes": [len(data) for data in packed],
        "words": sorted(word.decode() for word in whole.words),
        "patterns": sorted(map(_of_pattern, whole.patterns), key=lambda one: one[:2]),
        "called": sorted(name.decode() for name in whole.called),
        "parsed": sorted(numbers[path] for path in whole.parsed if path in numbers),
        "read": sorted(numbers[path] for path in whole.read if path in numbers),
    }
    return json.dumps(head).encode(), b"".join(packed)


class Record:
    """A record that was read."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        self.report = str(head["report"])
        self._head = head
        digests = bytes.fromhex(head["digests"])
        self._digests = [digests[at : at + DIGEST_SIZE] for at in range(0, len(digests), DIGEST_SIZE)]
        self._ends = list(accumulate(head["sizes"]))

    @classmethod
    def read(cls, data: bytes) -> Record | None:
        """The record in these bytes, None where there is none."""
        try:
            return cls(json.loads(data))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def changed(self, digests: Mapping[Path, bytes]) -> Mapping[Path, int]:
        """The files that have changed, with their numbers. Empty where they are too many, or other files than those of
        the record.
        """
        if not len(digests) == len(self._digests) == len(self._ends):
            return {}
        together = zip(digests.items(), self._digests, strict=True)
        changed = {path: number for number, ((path, digest), old) in enumerate(together) if digest != old}
        return changed if len(changed) <= MAX_CHANGED else {}

    def answers_stay(
        self, changed: Mapping[Path, int], read: Read, requested: Collection[Path], pieces: Pieces
    ) -> bool:
        """Whether each file gives all answers that it gave. `pieces` gives parts of the texts of the record."""
        try:
            if any(is_notebook(path) for path in changed) or not self._unread(changed.values()):
                return False
            old = self._texts(changed.values(), pieces)
            both = [(decode(path, data), decode(path, read(path))) for path, data in zip(changed, old, strict=True)]
            looks = self._looks(changed, [source.searched for pair in both for source in pair])
            return all(_stays(looks, one, other, is_requested=one.path in requested) for one, other in both)
        except _NOT_IN_ORDER:
            return False

    def _unread(self, numbers: Iterable[int]) -> bool:
        return set(self._head["read"]).isdisjoint(numbers)

    def _texts(self, numbers: Iterable[int], pieces: Pieces) -> list[bytes]:
        """The texts of these files as they were. ValueError where one is not what it was."""
        places = [(self._ends[number - 1] if number else 0, self._head["sizes"][number]) for number in numbers]
        texts = [zlib.decompressobj().decompress(piece, _LONGEST) for piece in pieces(places)]
        if [digest_of(text) for text in texts] != [self._digests[number] for number in numbers]:
            raise ValueError("a text is not the one of its digest")
        return texts

    def _looks(self, changed: Mapping[Path, int], texts: Iterable[bytes]) -> Looks:
        """The questions that concern these files with these texts: no others are made."""
        from torchrepro_lint.program.looks import Looks
        from torchrepro_lint.program.word_index import WordIndex

        head = self._head
        index = WordIndex(texts)
        parsed = set(head["parsed"])
        patterns = (
            re.compile(text.encode("latin-1"), flags)
            for text, flags, needed in head["patterns"]
            if needed is None or index.holds_any(map(str.encode, needed))
        )
        return Looks(
            {word.encode() for word in head["words"]},
            set(patterns),
            {name.encode() for name in head["called"]},
            {path for path, number in changed.items() if number in parsed},
        )


def _of_pattern(pattern: re.Pattern[bytes]) -> list[Any]:
    """A pattern as plain data, with what a text must hold for it to match."""
    from torchrepro_lint.program.word_index import required_words

    needed = required_words(pattern)
    words = sorted(word.decode() for word in needed) if needed is not None else None
    return [pattern.pattern.decode("latin-1"), pattern.flags, words]


def _stays(looks: Looks, old: Source, new: Source, *, is_requested: bool) -> bool:
    """Whether all that is said of a file stays. Most often a comment has changed: that takes no facts to see."""
    from torchrepro_lint.facts.comments import differ_in_comments_alone

    same_facts = differ_in_comments_alone(old.python, new.python)
    if is_requested and not _is_reported_alike(old, new, readable=same_facts):
        return False
    return looks.answers_stay(old, new, same_facts=same_facts)


def _is_reported_alike(old: Source, new: Source, *, readable: bool) -> bool:
    """Whether the changes of a file that was asked about leave alone what is said of it apart from rules: comments that
    silence are read anew in each run, and what is looked at must be readable.
    """
    if may_silence(old.data) or may_silence(new.data) or is_wanted(old.data) != is_wanted(new.data):
        return False
    if readable or not is_wanted(new.data):
        return True
    from torchrepro_lint.facts.readable import is_surely_readable

    return is_surely_readable(old.python) and is_surely_readable(new.python)
