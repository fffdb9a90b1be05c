"""The settings, and which source of a setting takes precedence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from torchrepro_lint.settings.values import OutputFormat, target_torch

__all__ = [
    "DEFAULT_BASELINE",
    "DEFAULT_EXCLUDE",
    "EVERY_RULE",
    "Intent",
    "MinSeverity",
    "Profile",
    "Settings",
    "SettingsOverride",
]

Profile = Literal["default", "strict"]
Intent = Literal["seeded", "deterministic"]
MinSeverity = Literal["warning", "error"]

#: What `--write-baseline` writes where neither the command line nor the settings name a file.
DEFAULT_BASELINE = "torchrepro-lint-baseline.json"

# The folders that ruff leaves out by default, and caches of tools that came after its list was made.
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".torchrepro-lint-cache",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)


#: What is no setting of a file: where the settings come from, and what the command line alone can say.
_OF_NO_FILE = ("base", "files", "ignore_noqa")

#: What the command line says about the files themselves.
_OF_FILES = ("config", "over_files")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one project.

    `select`, `extend_select`, `ignore`, `fixable` and `unfixable` contain codes, prefixes of codes and names of rules
    as they were written; `per_file_ignores` contains them for each file pattern. These patterns, and those of `exclude`
    and `extend_exclude`, are written as in a .gitignore file and are relative to `base`, the folder of the settings
    file, which is None if there is no file. `src` are the folders (absolute) in which absolute imports are looked up;
    if empty, they are detected. `min_severity` is the least severity that is reported. `baseline` is a file (absolute)
    with known findings that are not reported. `output_format`, `fix`, `show_fixes` and `cache_dir` (a folder, absolute)
    are for the command line alone, where its options do not say otherwise. With `ignore_noqa`, which no file can say,
    comments suppress nothing. `files` are the files that the settings come from, the nearest first.
    """

    select: tuple[str, ...] = ("TRL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fixable: tuple[str, ...] = ("ALL",)
    extend_fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()
    profile: Profile = "default"
    min_severity: MinSeverity = "warning"
    target_torch: str | None = None
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    src: tuple[Path, ...] = ()
    seed: int = 0
    intent: Intent | None = None
    cache: bool = True
    cache_dir: Path | None = None
    fix: bool = False
    unsafe_fixes: bool = False
    show_fixes: bool = False
    output_format: OutputFormat = "full"
    baseline: Path | None = None
    ignore_noqa: bool = False
    base: Path | None = None
    files: tuple[Path, ...] = field(default=(), compare=False)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The settings by the names that they have in a file."""
        return tuple(one.name.replace("_", "-") for one in fields(cls) if one.name not in _OF_NO_FILE)

    def overridden(self, override: SettingsOverride) -> Settings:
        """These settings with those of the command line applied.

        `select` on the command line replaces all lists of the file that select or ignore rules. Without it,
        `extend_select` and `ignore` are added to those of the file. `fixable` replaces `extend_fixable` too, which is
        added without it. `per_file_ignores`, `unfixable` and `extend_exclude` are always added.
        """
        changes: dict[str, Any] = {name: value for name, value in override.items() if name not in _OF_FILES}
        if "select" in changes:
            changes = {"extend_select": (), "ignore": ()} | changes
        else:
            for name in ("extend_select", "ignore"):
                if name in changes:
                    changes[name] = (*getattr(self, name), *changes[name])
        if "fixable" in changes:
            changes = {"extend_fixable": ()} | changes
        elif "extend_fixable" in changes:
            changes["extend_fixable"] = (*self.extend_fixable, *changes["extend_fixable"])
        for name in ("per_file_ignores", "unfixable", "extend_exclude"):
            if name in changes:
                changes[name] = (*getattr(self, name), *changes[name])
        if changes.get("target_torch") is not None:
            changes["target_torch"] = target_torch(changes["target_torch"], "--target-torch")
        return replace(self, **changes)


class SettingsOverride(TypedDict, total=False):
    """Settings from the command line, which take precedence over the settings file. A missing key leaves a setting as
    it is.

    `config` is the file to read instead of the nearest one, None to read none. `over_files` are settings, by the names
    of their fields, that stand in the place of those of the files, as those of a nearer file do; all else goes before
    them too.
    """

    config: Path | None
    over_files: Mapping[str, Any]
    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...]
    fixable: tuple[str, ...]
    extend_fixable: tuple[str, ...]
    unfixable: tuple[str, ...]
    profile: Profile
    min_severity: MinSeverity
    target_torch: str | None
    respect_gitignore: bool
    src: tuple[Path, ...]
    seed: int
    intent: Intent
    cache: bool
    unsafe_fixes: bool
    baseline: Path | None
    ignore_noqa: bool


#: Every rule and all that it finds, whatever the settings select or ignore and whatever the profile is.
EVERY_RULE: SettingsOverride = {"select": ("ALL",), "profile": "strict", "min_severity": "warning"}
