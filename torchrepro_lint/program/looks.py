"""What a run looks at in the texts of a project: enough to say whether another text would have given the same answers.

Rules ask a project which files hold a word or match a pattern, what a file imports, what its facts are. A change of a
file that alters none of the answers alters no finding, as long as nobody has looked at the file's text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from torchrepro_lint.program.call_words import may_call
from torchrepro_lint.program.word_index import finds, words_of
from torchrepro_lint.source.import_statements import import_statements
from torchrepro_lint.source.text import Source

__all__ = ["Looks", "Question", "same_imports"]

_Kind: TypeAlias = Literal["word", "pattern", "call", "facts", "text", "imports"]

#: What was asked of a text, or of all of them, and what about: a word, a pattern, a name that may be called, a file.
#: Who imports whom is one question.
Question: TypeAlias = tuple[_Kind, bytes | re.Pattern[bytes] | Path]


@dataclass
class Looks:
    """The questions of a run. `called` are the names of which it was asked whether a file calls them, `parsed` the
    files whose facts were asked for, and `read` those whose text was, so that every change of it counts.
    """

    words: set[bytes] = field(default_factory=set)
    patterns: set[re.Pattern[bytes]] = field(default_factory=set)
    called: set[bytes] = field(default_factory=set)
    parsed: set[Path] = field(default_factory=set)
    read: set[Path] = field(default_factory=set)

    def word(self, word: bytes) -> None:
        """Which files hold this word?"""
        self.words.add(word)

    def pattern(self, pattern: re.Pattern[bytes]) -> None:
        """In which files does this pattern find something?"""
        self.patterns.add(pattern)

    def call(self, name: bytes) -> None:
        """Which files may call something by this name?"""
        self.called.add(name)

    def facts(self, path: Path) -> None:
        """What does this file say?"""
        self.parsed.add(path)

    def text(self, path: Path) -> None:
        """What is the text of this file?"""
        self.read.add(path)

    def imports(self) -> None:
        """Who imports whom? Not recorded: of a text that has changed, the import statements are compared anyway."""

    def merge(self, other: Looks) -> None:
        """Takes in the questions of another."""
        self.words |= other.words
        self.patterns |= other.patterns
        self.called |= other.called
        self.parsed |= other.parsed
        self.read |= other.read

    def answers_stay(self, old: Source, new: Source, *, same_facts: bool = False) -> bool:
        """Whether a Python file gives every answer as `new` that it gave as `old`. `same_facts`: it is known that their
        facts are the same.
        """
        if old.path in self.read or next(self.other_answers(old, new), None) is not None:
            return False
        if not same_imports(old, new):
            return False
        return same_facts or old.path not in self.parsed or _same_facts(old, new)

    def other_answers(self, old: Source, new: Source) -> Iterator[Question]:
        """The questions about words, patterns and calls to which a file gives another answer as `new` than as `old`."""
        before, after = old.searched, new.searched
        known, found = words_of(before), words_of(after)
        for word in (known ^ found) & self.words:
            yield "word", word
        for pattern in self.patterns:
            if finds(pattern, before) != finds(pattern, after):
                yield "pattern", pattern
        for name in self.called & (known | found):
            if may_call(before, name) != may_call(after, name):
                yield "call", name


def same_imports(old: Source, new: Source) -> bool:
    """Whether two texts have the same import statements, in the same order."""
    return _imports(old) == _imports(new)


def _imports(source: Source) -> list[tuple[str | None, ...]]:
    return [one.groups() for one in import_statements(source.text)]


def _same_facts(old: Source, new: Source) -> bool:
    from torchrepro_lint.facts.module import UnreadableModule, facts_of_text
    from torchrepro_lint.facts.same import same_nodes

    try:
        return same_nodes(facts_of_text(old.path, old.python).body, facts_of_text(new.path, new.python).body)
    except UnreadableModule:
        return False
