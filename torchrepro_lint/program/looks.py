"""What a run looks at in the texts of a project: enough to say whether another text would have given the same answers.

Rules ask a project which files hold a word or match a pattern, what a file imports, what its facts are. A change of a
file that alters none of the answers alters no finding, as long as nobody has looked at the file's text itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from torchrepro_lint.program.call_words import may_call
from torchrepro_lint.program.import_statements import import_statements
from torchrepro_lint.program.word_index import words_of
from torchrepro_lint.source.text import Source

__all__ = ["Looks"]


@dataclass(slots=True)
class Looks:
    """The questions of a run. `called` are the names of which it was asked whether a file calls them, `parsed` the
    files whose facts were asked for, and `read` those whose text was, so that every change of it counts.
    """

    words: set[bytes] = field(default_factory=set)
    patterns: set[re.Pattern[bytes]] = field(default_factory=set)
    called: set[bytes] = field(default_factory=set)
    parsed: set[Path] = field(default_factory=set)
    read: set[Path] = field(default_factory=set)

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
        path, before, after = old.path, old.searched, new.searched
        if path in self.read:
            return False
        known, found = words_of(before), words_of(after)
        if (known ^ found) & self.words:
            return False
        if any((one.search(before) is None) != (one.search(after) is None) for one in self.patterns):
            return False
        if any(may_call(before, name) != may_call(after, name) for name in self.called & (known | found)):
            return False
        if _imports(old) != _imports(new):
            return False
        return same_facts or path not in self.parsed or _same_facts(old, new)


def _imports(source: Source) -> list[tuple[str | None, ...]]:
    return [one.groups() for one in import_statements(source.text)]


def _same_facts(old: Source, new: Source) -> bool:
    from torchrepro_lint.facts.module import UnreadableModule, facts_of_text
    from torchrepro_lint.facts.same import same_nodes

    try:
        return same_nodes(facts_of_text(old.path, old.python).body, facts_of_text(new.path, new.python).body)
    except UnreadableModule:
        return False
