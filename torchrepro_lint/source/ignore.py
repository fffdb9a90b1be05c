"""Patterns of files to leave out, as in a .gitignore file: nested, the nearer file over the farther, with negation."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torchrepro_lint.regular_files import note, read_if_there
from torchrepro_lint.source.glob_match import Glob, count_stars

__all__ = ["Layer", "git_folder", "git_top", "gitignore_layer", "info_exclude_layer", "is_ignored"]

# The group in which pathspec keeps the slash behind a folder that a pattern names.
_FOLDER = "ps_d"
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
# Patterns that are looked up: a name, that of a folder, an ending of names, a path from the folder of the file on.
_PLAIN_NAME = re.compile(r"\.?\w[\w.-]*")
_PLAIN_FOLDER = re.compile(r"\.?\w[\w.-]*/")
_ENDING = re.compile(r"\*\.\w[\w.-]*")
_PLAIN_PATH = re.compile(r"/?\.?\w[\w.-]*(?:/\.?\w[\w.-]*)+/?|/\.?\w[\w.-]*/?")
# More stars than these in one pattern are not left to a regular expression: see glob_match.
_FEW_STARS = 2
_MOST_PATTERNS = 5_000
_MOST_GLOBS = 200


@dataclass(frozen=True, slots=True)
class _Rule:
    """One pattern with its number among those of the file; a later one decides over an earlier one."""

    number: int
    leaves_out: bool
    expression: re.Pattern[str] | Glob

    def speaks_of(self, relative: str) -> bool:
        """Whether it matches a path itself, and not only a folder above it: that is asked for in its turn."""
        if isinstance(self.expression, Glob):
            return self.expression.matches(relative)
        found = self.expression.match(relative)
        return found is not None and (found.groupdict().get(_FOLDER) is None or found.end(_FOLDER) == len(relative))


class Layer:
    """The patterns of one file, which speak about the paths below the folder `base`. `file` is named where it has more
    patterns than are looked at.
    """

    def __init__(self, base: Path, lines: Iterable[str], file: Path | None = None) -> None:
        self.base = base
        self._prefix = str(base).rstrip("/\\") + "/"
        self._lines = list(lines)
        # A pattern that is only a name is about the paths whose last part it is: most files have no others.
        self._names = {line: number for number, line in enumerate(self._lines) if _PLAIN_NAME.fullmatch(line)}
        self._folders = {line[:-1]: number for number, line in enumerate(self._lines) if _PLAIN_FOLDER.fullmatch(line)}
        self._endings = {line[1:]: number for number, line in enumerate(self._lines) if _ENDING.fullmatch(line)}
        self._paths = {
            line.lstrip("/"): number for number, line in enumerate(self._lines) if _PLAIN_PATH.fullmatch(line)
        }
        self._file = file

    @cached_property
    def _rules(self) -> list[_Rule]:
        """The patterns that are no mere names, the last first."""
        simple = {*self._names.values(), *self._folders.values(), *self._endings.values(), *self._paths.values()}
        others = [
            (number, line)
            for number, line in enumerate(self._lines)
            if number not in simple and line.strip() and not line.startswith("#")
        ]
        stars = [one for one in others if count_stars(one[1]) > _FEW_STARS]
        if len(others) > _MOST_PATTERNS or len(stars) > _MOST_GLOBS:
            if self._file is not None:
                note(self._file, "holds more patterns than are looked at: those at its end are left out")
            last = stars[_MOST_GLOBS][0] if len(stars) > _MOST_GLOBS else len(self._lines)
            others = [one for one in others[:_MOST_PATTERNS] if one[0] < last]
        with _without_warnings():
            return [rule for number, line in reversed(others) if (rule := _rule(number, line)) is not None]

    @cached_property
    def _any(self) -> re.Pattern[str]:
        """Nearly every path matches nothing. One expression says so at once; only the others are looked at in order."""
        patterns = [
            _NAMED_GROUP.sub("(?:", rule.expression.pattern)
            for rule in self._rules
            if isinstance(rule.expression, re.Pattern)
        ]
        with _without_warnings():
            return re.compile("|".join(patterns) or r"(?!)")

    @cached_property
    def _globs(self) -> list[Glob]:
        return [rule.expression for rule in self._rules if isinstance(rule.expression, Glob)]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True: `path` (absolute, with slashes) is left out. False: a negated pattern takes it in. None: not said."""
        if not path.startswith(self._prefix):
            return None
        relative = path[len(self._prefix) :]
        simple = self._simple(relative, is_folder)
        whole = relative + ("/" if is_folder else "")
        if self._rules and (self._any.match(whole) is not None or any(glob.matches(whole) for glob in self._globs)):
            for rule in self._rules:
                if rule.number < simple:
                    break
                if rule.speaks_of(whole):
                    return rule.leaves_out
        return True if simple >= 0 else None

    def _simple(self, relative: str, is_folder: bool) -> int:
        """The number of the last of the plain patterns that match, -1 where none does."""
        name = relative.rpartition("/")[2]
        found = max(self._names.get(name, -1), self._paths.get(relative, -1))
        if is_folder:
            found = max(found, self._folders.get(name, -1), self._paths.get(f"{relative}/", -1))
        if self._endings:
            place = name.find(".")
            while place >= 0:
                found = max(found, self._endings.get(name[place:], -1))
                place = name.find(".", place + 1)
        return found

    def without_those_that_match(self, folder: str) -> Layer:
        """The layer for a walk that the user began at `folder`, although a pattern leaves it or a parent of it out."""
        if not self.verdict(folder, True):
            return self
        lines = [line for line in self._lines if not Layer(self.base, [line]).verdict(folder, True)]
        return Layer(self.base, lines, self._file)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Python warns of expressions such as `[[]`, which it may read in another way some day; they are not the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _rule(number: int, line: str) -> _Rule | None:
    """The rule of a line, None where git cannot read it either."""
    # `data/**` says nothing of the folder itself: what is in it can be taken in again.
    line = f"{line}/*" if line.endswith("/**") else line
    if count_stars(line) > _FEW_STARS:
        try:
            return _Rule(number, not line.startswith("!"), Glob(line.removeprefix("!")))
        except ValueError:
            return None
    from pathspec import GitIgnoreSpec

    factory: Any = GitIgnoreSpec
    try:
        patterns = factory.from_lines([line]).patterns
    except (re.error, ValueError):
        return None
    return next(
        (_Rule(number, one.include, _from_the_beginning(one.regex)) for one in patterns if one.regex is not None), None
    )


def _from_the_beginning(regex: re.Pattern[str]) -> re.Pattern[str]:
    """pathspec shortens `*` and `*/` to expressions that match anywhere in a path; here the last place counts."""
    return regex if regex.pattern.startswith("^") else re.compile(f".*{regex.pattern}")


def is_ignored(path: str, is_folder: bool, layers: tuple[Layer, ...]) -> bool:
    """Whether the layers, from the outermost to the innermost, leave `path` out. The innermost that speaks decides."""
    for layer in reversed(layers):
        verdict = layer.verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def gitignore_layer(folder: Path) -> Layer | None:
    """The layer of the .gitignore file of `folder`, None where there is none."""
    return _layer(folder, folder / ".gitignore")


def info_exclude_layer(top: Path) -> Layer | None:
    """The layer of the `info/exclude` file of the git repository whose work tree begins at `top`."""
    git = git_folder(top)
    shared = _text(git / "commondir").strip() if (top / ".git").is_file() else ""
    return _layer(top, git / shared / "info" / "exclude")


def git_folder(top: Path) -> Path:
    """Where git keeps what is of the work tree `top` alone, such as its index."""
    git = top / ".git"
    # A linked work tree or a submodule: the file names the folder, which may name the one it shares.
    named = re.match(r"gitdir:\s*(.+)", _text(git)) if git.is_file() else None
    return top / named[1].strip() if named else git


def git_top(folder: Path) -> Path | None:
    """The top of the git work tree that `folder` lies in, None where it lies in none."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def _layer(base: Path, file: Path) -> Layer | None:
    text = _text(file)
    return Layer(base, text.splitlines(), file) if text else None


def _text(file: Path) -> str:
    return read_if_there(file).decode("utf-8", "replace")
