"""The texts of a project's files, and which of them hold a word, match a pattern, or may call a name.

Rules ask this before anything is parsed, some questions thousands of times: indexes of the words of all texts tell
first where it is worth while to look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.program.call_words import (
    bases_in,
    decorated_with,
    decorators_in,
    may_call,
    set_attribute,
    set_attributes_in,
    subclass_of,
)
from torchrepro_lint.program.looks import Looks
from torchrepro_lint.program.word_index import WordIndex, any_word, finds
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.text import Source, decode, read_bytes

__all__ = ["ProjectTexts"]


class ProjectTexts:
    """All Python files of a project. A file is read when something first asks for it.

    `overlay` gives texts that stand for what is on disk: unsaved editor buffers, or files with fixes not yet written.
    `read` may know the bytes of a file. `looks` is what was asked of the texts.
    """

    def __init__(
        self,
        files: Iterable[Path],
        overlay: Mapping[Path, str] | None = None,
        read: Read = read_bytes,
        looks: Looks | None = None,
    ) -> None:
        self.looks = looks or Looks()
        self.read = read
        self.overlay = dict(overlay or {})
        self.files: tuple[Path, ...] = tuple(sorted({*files, *self.overlay}))
        self.known = frozenset(self.files)
        self.unreadable: dict[Path, tuple[int, int, str]] = {}
        self._sources: dict[Path, Source | None] = {}
        self._containing: dict[str, tuple[Path, ...]] = {}
        self._mentioning: dict[str, frozenset[Path]] = {}
        self._matching: dict[re.Pattern[bytes], list[Path]] = {}
        self._holds: dict[re.Pattern[bytes], dict[Path, bool]] = {}
        self._called: dict[str, dict[Path, bool]] = {}
        self._candidates: dict[re.Pattern[bytes], frozenset[Path] | None] = {}

    def source(self, path: Path) -> Source | None:
        """The text of a file, or None where it cannot be read or decoded (noted in `unreadable`). Who asks whether
        something stands in it asks `holds`: then only a change of the answer counts.
        """
        self.looks.text(path)
        return self._source(path)

    def _source(self, path: Path) -> Source | None:
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def _read(self, path: Path) -> Source | None:
        if path in self.overlay:
            text = self.overlay[path]
            return Source(path, text.encode("utf-8", "surrogatepass"), "utf-8", False, text)
        try:
            return decode(path, self.read(path))
        except TorchReproLintError as error:
            self.unreadable[path] = (1, 1, str(error))
            return None

    def is_readable(self, path: Path) -> bool:
        """Whether a file can be read and decoded."""
        return self._source(path) is not None

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self._texts())

    @cached_property
    def _words_of_decorators(self) -> WordIndex:
        return WordIndex(map(decorators_in, self._texts()))

    @cached_property
    def _words_of_bases(self) -> WordIndex:
        return WordIndex(map(bases_in, self._texts()))

    @cached_property
    def _words_of_set_attributes(self) -> WordIndex:
        return WordIndex(map(set_attributes_in, self._texts()))

    def _texts(self) -> Iterator[bytes]:
        return (source.searched if source is not None else b"" for source in map(self._source, self.files))

    def _reindex(self, number: int, old: Source, new: Source) -> None:
        """The file of this number has another text: the indexes that there are follow."""
        before, after = old.searched, new.searched
        if "_words" in self.__dict__:
            self._words.replace(number, before, after)
        if "_words_of_decorators" in self.__dict__:
            self._words_of_decorators.replace(number, decorators_in(before), decorators_in(after))
        if "_words_of_bases" in self.__dict__:
            self._words_of_bases.replace(number, bases_in(before), bases_in(after))
        if "_words_of_set_attributes" in self.__dict__:
            self._words_of_set_attributes.replace(number, set_attributes_in(before), set_attributes_in(after))
        self._candidates.clear()

    def containing(self, word: str) -> tuple[Path, ...]:
        """The files in whose text the identifier `word` stands, in order: all that could mention that name."""
        self._look_for(word)
        if word not in self._containing:
            if word.isascii():
                found = [self.files[number] for number in self._words.holding(word.encode())]
            else:
                found = self._searched(any_word([word]), self.files)
            self._containing[word] = tuple(found)
        return self._containing[word]

    def mentioning(self, word: str) -> frozenset[Path]:
        """The files of `containing`, to ask for one of them."""
        self._look_for(word)
        if word not in self._mentioning:
            self._mentioning[word] = frozenset(self.containing(word))
        return self._mentioning[word]

    def naming(self, home: Path, *, package: bool) -> frozenset[Path]:
        """The files that mention a module by its name, or, with `package`, the package that gives its names on."""
        stem = home.parent.name if home.stem == "__init__" else home.stem
        near = self.mentioning(stem)
        return near | self.mentioning(home.parent.name) if package else near

    def _look_for(self, word: str) -> None:
        if word.isascii():
            self.looks.word(word.encode())
        else:
            self.looks.pattern(any_word([word]))

    def decorating(self, name: str) -> list[Path]:
        """The files in which the name stands behind an `@` at the start of a line, so that it may be a decorator of
        what the module itself defines, in order.
        """
        pattern = decorated_with(name)
        if not name.isascii():
            return self._searched(pattern, self.containing(name))
        self.looks.pattern(pattern)
        return [self.files[number] for number in self._words_of_decorators.holding(name.encode())]

    def setting(self, name: str) -> list[Path]:
        """The files that may set an attribute of that name on what a plain name stands for, a module perhaps."""
        pattern = set_attribute(name)
        if not name.isascii():
            return self._searched(pattern, self.containing(name))
        self.looks.pattern(pattern)
        return [self.files[number] for number in self._words_of_set_attributes.holding(name.encode())]

    def may_subclass(self, path: Path, name: str) -> bool:
        """Whether a file that can be read may define a class that has a base of that name."""
        pattern = subclass_of(name)
        if not name.isascii() or path not in self.known:
            return self.holds(path, pattern)
        self.looks.pattern(pattern)
        if pattern not in self._candidates:
            self._candidates[pattern] = self._numbered(self._words_of_bases.holding(name.encode()))
        return path in (self._candidates[pattern] or ())

    def matching(self, pattern: re.Pattern[bytes], among: Iterable[Path] | None = None) -> list[Path]:
        """The files, of all or of those in `among`, whose bytes the pattern finds something in, in order."""
        if among is not None:
            return self._searched(pattern, among)
        self.looks.pattern(pattern)
        if pattern not in self._matching:
            numbers = self._words.holding_any(pattern)
            if numbers is not None:
                self._matching[pattern] = [self.files[number] for number in numbers]
                return list(self._matching[pattern])
            candidates = self._may_match(pattern)
            among = self.files if candidates is None else (path for path in self.files if path in candidates)
            self._matching[pattern] = self._searched(pattern, among)
        return list(self._matching[pattern])

    def _may_match(self, pattern: re.Pattern[bytes]) -> frozenset[Path] | None:
        """The files in which the pattern could find something, by their words; None where that cannot be said."""
        if pattern not in self._candidates:
            numbers = self._words.may_match(pattern)
            self._candidates[pattern] = None if numbers is None else self._numbered(numbers)
        return self._candidates[pattern]

    def _numbered(self, numbers: Iterable[int]) -> frozenset[Path]:
        return frozenset(self.files[number] for number in numbers)

    def _searched(self, pattern: re.Pattern[bytes], files: Iterable[Path]) -> list[Path]:
        self.looks.pattern(pattern)
        sources = ((path, self._source(path)) for path in files)
        return [path for path, source in sources if source is not None and finds(pattern, source.searched)]

    def holds(self, path: Path, pattern: re.Pattern[bytes]) -> bool:
        """Whether the pattern finds something in the bytes of a file that can be read."""
        self.looks.pattern(pattern)
        answers = self._holds.setdefault(pattern, {})
        if path not in answers:
            candidates = self._may_match(pattern)
            if candidates is not None and path in self.known and path not in candidates:
                return False
            source = self._source(path)
            answers[path] = source is not None and finds(pattern, source.searched)
        return answers[path]

    def may_call(self, path: Path, name: str) -> bool:
        """Whether a file that can be read may call something by that name, or give it another name."""
        self.looks.call(name.encode())
        answers = self._called.setdefault(name, {})
        if path not in answers:
            source = self._source(path)
            answers[path] = source is not None and may_call(source.searched, name.encode())
        return answers[path]

    def may_call_any(self, path: Path, names: Iterable[str]) -> bool:
        """Whether `may_call` holds of one of these names."""
        return any(self.may_call(path, name) for name in names)
