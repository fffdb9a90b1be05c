"""Patterns of files to leave out, as in a .gitignore file: nested, the nearer file over the farther, with negation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from torchrepro_lint.settings.patterns import why_no_pattern

__all__ = ["Layer", "git_folder", "git_top", "gitignore_layer", "info_exclude_layer", "is_ignored"]

# The group in which pathspec keeps the slash behind a folder that a pattern names.
_FOLDER = "ps_d"
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_PLAIN_NAME = re.compile(r"\.?\w[\w.-]*")


class Layer:
    """The patterns of one file, which speak about the paths below the folder `base`."""

    def __init__(self, base: Path, lines: Iterable[str]) -> None:
        self.base = base
        self._prefix = str(base).rstrip("/\\") + "/"
        self._lines = list(lines)
        # A pattern that is only a name speaks of the paths whose last part it is: many runs see no others.
        self._names = frozenset(self._lines) if all(map(_PLAIN_NAME.fullmatch, self._lines)) else None

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], bool]]:
        """The patterns as expressions for a whole path from its beginning on, each with whether it leaves out."""
        from pathspec import GitIgnoreSpec

        # `data/**` says nothing of the folder itself: what is in it can be taken in again.
        # What git cannot read, it passes over.
        lines = [f"{line}/*" if line.endswith("/**") else line for line in self._lines]
        spec: Any = GitIgnoreSpec.from_lines([line for line in lines if not why_no_pattern(line)])
        return [(_from_the_beginning(one.regex), one.include) for one in spec.patterns if one.regex is not None]

    @cached_property
    def _any(self) -> re.Pattern[str]:
        """Nearly every path matches nothing. One expression says so at once; only the others are looked at in order."""
        patterns = [_NAMED_GROUP.sub("(?:", regex.pattern) for regex, _ in self._patterns]
        return re.compile("|".join(patterns) or r"(?!)")

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True: `path` (absolute, with slashes) is left out. False: a negated pattern takes it in. None: not said."""
        if not path.startswith(self._prefix):
            return None
        if self._names is not None:
            return True if path.rpartition("/")[2] in self._names else None
        relative = path[len(self._prefix) :] + ("/" if is_folder else "")
        if self._any.match(relative) is None:
            return None
        return next((leaves_out for regex, leaves_out in reversed(self._patterns) if _speaks_of(regex, relative)), None)

    def without_those_that_match(self, folder: str) -> Layer:
        """The layer for a walk that the user began at `folder`, although a pattern leaves it or a parent of it out."""
        if not self.verdict(folder, True):
            return self
        return Layer(self.base, [line for line in self._lines if not Layer(self.base, [line]).verdict(folder, True)])


def _from_the_beginning(regex: re.Pattern[str]) -> re.Pattern[str]:
    """pathspec shortens `*` and `*/` to expressions that match anywhere in a path; here the last place counts."""
    return regex if regex.pattern.startswith("^") else re.compile(f".*{regex.pattern}")


def _speaks_of(regex: re.Pattern[str], relative: str) -> bool:
    """Whether a pattern matches a path itself, and not only a folder above it: that is asked for in its turn."""
    found = regex.match(relative)
    return found is not None and (found.groupdict().get(_FOLDER) is None or found.end(_FOLDER) == len(relative))


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
    return Layer(base, text.splitlines()) if text else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
