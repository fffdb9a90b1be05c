"""What a run has seen of the files: whether its answer still holds after a few of them have changed.

A record holds the questions that the run has asked of the texts (`program.looks`), and the texts, compressed. For a
file that has changed, both texts are asked: where each question has the same answer, so has the run.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchrepro_lint.source.cells import is_notebook
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.noqa import may_silence
from torchrepro_lint.source.prefilter import is_wanted
from torchrepro_lint.source.text import SourceError, decode

if TYPE_CHECKING:
    from torchrepro_lint.program.looks import Looks

__all__ = ["MAX_CHANGED", "Record", "record_of"]

MAX_CHANGED = 64  # with more, a run that looks for itself is as fast

_FASTEST = 1


def record_of(report: str, looks: Iterable[Looks], texts: Mapping[Path, bytes], digests: Mapping[Path, bytes]) -> bytes:
    """A record of the run whose report is kept under the key `report`: a line of JSON, and the texts."""
    from torchrepro_lint.program.looks import Looks

    whole = Looks()
    for one in looks:
        whole.merge(one)
    packed = {path: zlib.compress(data, _FASTEST) for path, data in sorted(texts.items())}
    head = {
        "report": report,
        "files": [[str(path), digests[path].hex(), len(data)] for path, data in packed.items()],
        "words": sorted(word.decode() for word in whole.words),
        "patterns": sorted([one.pattern.decode("latin-1"), one.flags] for one in whole.patterns),
        "called": sorted(name.decode() for name in whole.called),
        "parsed": sorted(map(str, whole.parsed)),
        "read": sorted(map(str, whole.read)),
    }
    return b"\n".join((json.dumps(head).encode(), b"".join(packed.values())))


class Record:
    """A record that was read."""

    def __init__(self, head: Mapping[str, Any], texts: memoryview) -> None:
        self.report = str(head["report"])
        self._head = head
        self._texts = texts
        self._places: dict[Path, tuple[bytes, int, int]] = {}
        at = 0
        for path, digest, size in head["files"]:
            self._places[Path(path)] = (bytes.fromhex(digest), at, at + size)
            at += size

    @classmethod
    def read(cls, data: bytes) -> Record | None:
        """The record in these bytes, None where there is none."""
        head, _, _ = data.partition(b"\n")
        try:
            return cls(json.loads(head), memoryview(data)[len(head) + 1 :])
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def changed(self, digests: Mapping[Path, bytes]) -> Sequence[Path]:
        """The files that have changed. Empty where they are too many, or other files than those of the record."""
        if digests.keys() != self._places.keys():
            return []
        changed = [path for path, digest in digests.items() if self._places[path][0] != digest]
        return changed if len(changed) <= MAX_CHANGED else []

    def answers_stay(self, changed: Iterable[Path], contents: Contents, requested: Collection[Path]) -> bool:
        """Whether each file gives all answers that it gave."""
        try:
            looks = self._looks()
            return all(self._stay(looks, path, contents(path), path in requested) for path in changed)
        except (SourceError, ValueError, TypeError, KeyError, AttributeError, re.error, zlib.error):
            return False

    def _looks(self) -> Looks:
        from torchrepro_lint.program.looks import Looks

        head = self._head
        return Looks(
            {word.encode() for word in head["words"]},
            {re.compile(text.encode("latin-1"), flags) for text, flags in head["patterns"]},
            {name.encode() for name in head["called"]},
            set(map(Path, head["parsed"])),
            set(map(Path, head["read"])),
        )

    def _stay(self, looks: Looks, path: Path, data: bytes, is_requested: bool) -> bool:
        if is_notebook(path) or path in looks.read:
            return False
        _, start, end = self._places[path]
        old, new = decode(path, zlib.decompress(self._texts[start:end])), decode(path, data)
        if is_requested:
            # Comments that silence are read anew in each run, and what is looked at must be readable.
            if may_silence(old.data) or may_silence(new.data) or is_wanted(old.data) != is_wanted(new.data):
                return False
            if is_wanted(new.data) and not _both_readable(old.python, new.python):
                return False
        return looks.answers_stay(old, new)


def _both_readable(old: str, new: str) -> bool:
    from torchrepro_lint.facts.readable import is_surely_readable

    return is_surely_readable(old) and is_surely_readable(new)
