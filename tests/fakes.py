"""A program and rules for tests of what stands around the analysis: they look at lines of text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path

from torchrepro_lint.diagnostics import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Location,
    Position,
    Severity,
    TraceStep,
)
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import SourceError, read_source
from torchrepro_lint.toolkit import Toolkit


class FakeProgram:
    """The texts of the files of a project."""

    def __init__(
        self,
        root: Path,
        files: Sequence[Path],
        settings: Settings,
        target: TargetTorch,
        overlay: Mapping[Path, str],
        *,
        read: Callable[[Path], bytes] | None = None,
        asked: frozenset[Path] | None = None,
    ) -> None:
        self.root = root
        self.settings = settings
        self.target = target
        self.texts: dict[Path, str] = {}
        for file in files:
            with suppress(SourceError):
                self.texts[file] = overlay[file] if file in overlay else read_source(file).text

    def facts(self, path: Path) -> object:
        return self.texts.get(path)

    def has_read(self, path: Path) -> bool:
        return False

    def begin_rule(self) -> None:
        pass

    def begin_place(self) -> None:
        pass

    def give_up(self, files: Sequence[Path]) -> bool:
        return False

    @property
    def outside(self) -> dict[str, bool]:
        return {}

    @property
    def looks(self) -> None:
        return None

    def is_imported(self, path: Path, by: Set[Path]) -> bool:
        return any(f"import {path.stem}\n" in self.texts[one] for one in by if one != path)

    def is_offered(self, path: Path) -> bool:
        return False

    def is_draft(self, path: Path) -> bool:
        return False

    def without(self, refused: SourceError) -> FakeProgram:
        raise AssertionError(refused)

    @property
    def unreadable(self) -> dict[Path, tuple[int, int, str]]:
        broken = {}
        for path, text in self.texts.items():
            try:
                ast.parse(text)
            except SyntaxError as error:
                broken[path] = (error.lineno or 1, error.offset or 1, str(error.msg))
        return broken


class WordRule:
    """Finds a word; the replacement, if there is one, is its fix."""

    profile = "default"
    summary = "a word that should not be there"

    def __init__(
        self,
        code: str,
        name: str,
        word: str,
        replacement: str | None = None,
        applicability: Applicability = Applicability.SAFE,
        profile: str = "default",
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.code, self.name, self.word, self.replacement = code, name, word, replacement
        self.applicability = applicability
        self.profile = profile
        self.severity = severity

    def check(self, program: FakeProgram) -> Iterator[Finding]:
        for path, text in program.texts.items():
            at = text.find(self.word)
            while at != -1:
                yield self.at(path, text, at)
                at = text.find(self.word, at + 1)

    def at(self, path: Path, text: str, offset: int) -> Finding:
        before = text[:offset].replace("\r\n", "\n")
        row, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        location = Location(path, Position(row, column), Position(row, column + len(self.word)))
        edit = Edit(path, offset, offset + len(self.word), self.replacement or "")
        fix = None if self.replacement is None else Fix(self.applicability, f"replace {self.word}", (edit,))
        steps = (TraceStep(location, "the word stands here"),)
        return Finding(self.code, self.name, f"found {self.word}", self.severity, location, steps, fix)


class BrokenRule(WordRule):
    """Fails at the word, after it has found it once."""

    def check(self, program: FakeProgram) -> Iterator[Finding]:
        for path, text in program.texts.items():
            if self.word in text:
                yield self.at(path, text, text.index(self.word))
                raise KeyError(f"{self.word}\nand a second line")


def toolkit(*rules: WordRule) -> Toolkit:
    """An engine's toolkit with these rules."""
    return Toolkit(rules=lambda: rules, make_program=FakeProgram)
