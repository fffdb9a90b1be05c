"""`--show-files` and `--show-settings`: what a check would look at, and by which settings."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torchrepro_lint.commands.check import CheckOptions, print_notices
from torchrepro_lint.console import counted, printable
from torchrepro_lint.housekeeping import UNREADABLE_FILE, UNUSED_SUPPRESSION
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.selection import is_ignored, is_selected, require_known_rules, rules_of
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.discovery import present
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.target import described
from torchrepro_lint.toolkit import Toolkit

__all__ = ["print_projects", "show_files", "show_settings"]


def print_projects(projects: Projects, files: Iterable[Path]) -> None:
    """Print to standard error, for each project that has some of `files` (absolute), how many of them it has, by which
    settings they are checked, and for which torch.
    """
    texts = Texts()
    counts = Counter(map(projects.of, files))
    for project, count in sorted(counts.items(), key=lambda item: item[0].root):
        named = ", which extends ".join(map(texts.name, project.settings.files)) or "defaults"
        print(f"{texts.name(project.root)}: {counted(count, 'file')}, settings: {named}", file=sys.stderr)
        print(f"{texts.name(project.root)}: torch: {printable(described(project.target))}", file=sys.stderr)


def show_files(options: CheckOptions) -> int:
    """Print the files that the paths stand for, one on a line. Exit status 0."""
    texts = Texts()
    projects = Projects(options.override)
    for path in projects.files(options.paths):
        print(texts.name(path))
    if not options.quiet:
        print_notices(projects.notices(options.paths), texts)
    return 0


def show_settings(options: CheckOptions, toolkit: Toolkit | None = None) -> int:
    """Print the settings that count for the first path, as a settings file would have them. Exit status 0.

    TorchReproLintError where the path is not there.
    """
    path = present(options.paths[0])
    project = Projects(options.override).around(path)
    settings, target = project.settings, project.target
    known = list((toolkit or Toolkit()).rules())
    require_known_rules(options.override, known)
    rules: list[RuleMetadata] = [*rules_of(project, known)]
    rules += [UNREADABLE_FILE] if not is_ignored(UNREADABLE_FILE, path, settings) else []
    rules += [UNUSED_SUPPRESSION] if is_selected(UNUSED_SUPPRESSION, settings) else []
    files = ", which extends ".join(map(str, settings.files)) or "none"
    for line in (
        f"The settings in effect for {path}, including defaults.",
        f"project: {project.root}",
        f"settings file: {files}",
        f"torch: {described(target)}",
    ):
        print(f"# {printable(line)}")
    for line in _as_toml(settings):
        print(line)
    print("\n# rules that run:")
    for rule in rules:
        print(f"#   {rule.code} {rule.name}")
    return 0


def _as_toml(settings: Settings) -> list[str]:
    lines: list[str] = []
    tables: list[str] = []
    for key in Settings.names():
        value = getattr(settings, key.replace("-", "_"))
        if key == "per-file-ignores":
            tables += [f"\n[{key}]"] if value else []
            tables += [f"{_toml(pattern)} = {_toml(rules)}" for pattern, rules in value]
        elif value is not None:
            lines.append(f"{key} = {_toml(value)}")
    return lines + tables


def _toml(value: Any) -> str:
    # Strings, numbers, booleans and lists of JSON are those of TOML. What is not shown is escaped as TOML has it.
    text = json.dumps(value, default=str, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text)
