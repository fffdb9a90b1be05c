"""The files of a project that change from one analysis to the next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.same import same_nodes
from torchrepro_lint.program.import_folders import Added
from torchrepro_lint.program.kept.traces import IMPORTS, TracedLooks
from torchrepro_lint.program.looks import Question, same_imports
from torchrepro_lint.program.modules import FactsOf, Project, imports_top_level
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.import_statements import import_statements
from torchrepro_lint.source.text import Source

__all__ = ["Changes", "KeptProject"]

#: With more changed files at once, all is done anew.
_MAX_CHANGED: Final = 64
#: Facts that nobody asks for any more are dropped together when they are of so much text, in bytes: with what was found
#: out about them they take fifty times as much.
_MAX_RETIRED: Final = 500_000


@dataclass(frozen=True, slots=True)
class Changes:
    """What other texts change: the questions that have other answers, the files that import something else, and facts
    of earlier texts that are dropped.
    """

    questions: Set[Question]
    imports: Sequence[Path]
    retired: Sequence[ModuleFacts]


class KeptProject(Project):
    """A project that takes new texts for its files."""

    looks: TracedLooks

    def __init__(
        self,
        root: Path,
        files: Iterable[Path],
        overlay: Mapping[Path, str],
        src: Sequence[Path],
        facts_of: FactsOf,
        read: Read,
    ) -> None:
        super().__init__(root, files, overlay, src, facts_of, read, TracedLooks())
        # Facts are known by their identity: those of old texts stay until all that was found out about them is
        # forgotten, so that no others come to lie in their place.
        self._retired: list[ModuleFacts] = []
        self._retired_bytes = 0

    def follow(self, overlay: Mapping[Path, str], read: Read) -> Changes | None:
        """Takes the texts as they are now, and gives what that changes. None where it cannot be told: the project must
        be made anew.
        """
        self.overlay = dict(overlay)
        self.read = read
        changed: list[tuple[Source, Source]] = []
        for path, old in self._sources.items():
            if old is None:
                if self._read(path) is not None:
                    return None
                continue
            new = self._changed(old)
            if new is None:
                return None
            if new is not old:
                changed.append((old, new))
        if len(changed) > _MAX_CHANGED:
            return None
        questions: set[Question] = set()
        for old, new in changed:
            self._exchange(old, new, questions)
            if not self._resolves_as_before(old, new):
                return None
        self._forget(questions)
        self.__dict__.pop("missing", None)
        if not all(facts.is_answered_alike() for facts in self._facts.values() if facts is not None):
            return None
        imports = [new.path for old, new in changed if not same_imports(old, new)]
        return Changes(questions, imports, self._let_go())

    def _changed(self, old: Source) -> Source | None:
        """The text of a file as it is now: the same object where nothing has changed, None where there is none."""
        if old.path not in self.overlay and (old.given is None or old.notebook is not None):
            try:
                if self.read(old.path) == old.data:
                    return old
            except TorchReproLintError:
                return None
        new = self._read(old.path)
        if new is not None and new.data == old.data and new.python == old.python:
            return old
        return new

    def _exchange(self, old: Source, new: Source, questions: set[Question]) -> None:
        path = old.path
        questions.update(self.looks.other_answers(old, new))
        if not same_imports(old, new):
            questions.add(IMPORTS)
        self._sources[path] = new
        self._statements.pop(path, None)
        number = self.files.index(path)
        self._reindex(number, old, new)
        for holds in self._holds.values():
            holds.pop(path, None)
        for called in self._called.values():
            called.pop(path, None)
        questions.add(("text", path))
        if path in self._facts:
            before = self._facts.pop(path)
            self.unreadable.pop(path, None)
            after = self.facts(path)
            if before is not None and after is not None and same_nodes(before.body, after.body):
                self._facts[path] = before
                return
            questions.add(("facts", path))
            if before is not None:
                self._retired.append(before)
                self._retired_bytes += len(old.data)

    def _let_go(self) -> Sequence[ModuleFacts]:
        """The facts of old texts, when there are so many that it is worth while."""
        if self._retired_bytes <= _MAX_RETIRED:
            return ()
        retired, self._retired, self._retired_bytes = self._retired, [], 0
        return retired

    def _resolves_as_before(self, old: Source, new: Source) -> bool:
        """Whether the change of a file leaves alone what the imports of all mean."""
        path = old.path
        # A module that is named after a library which it imports itself does not stand for that name elsewhere.
        one, other = (imports_top_level(import_statements(source.text), path.stem) for source in (old, new))
        if one != other:
            return False
        if self._added.pop(path, Added()) != self.added(path):
            return False
        before = self._extra_roots.pop(path, None)
        return before is None or before == self._extra_roots_of(path)

    def _forget(self, questions: Iterable[Question]) -> None:
        for kind, what in questions:
            if kind == "word" and isinstance(what, bytes):
                self._containing.pop(what.decode(), None)
                self._mentioning.pop(what.decode(), None)
            elif kind == "pattern" and isinstance(what, re.Pattern):
                self._matching.pop(what, None)
        for table in (self._containing, self._mentioning):
            for word in [word for word in table if not word.isascii()]:
                del table[word]
