"""The options of `torchrepro-lint [PATH ...]`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar, cast

from torchrepro_lint import __version__
from torchrepro_lint.arguments.commands import listed_commands
from torchrepro_lint.arguments.parser import ArgumentParser, at_least, file_named, path_named
from torchrepro_lint.cache.store import FOLDER
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.report.formats import FORMATS
from torchrepro_lint.settings import DEFAULT_BASELINE, SettingsOverride, settings_over_files, settings_table
from torchrepro_lint.settings.patterns import require_pattern
from torchrepro_lint.source.project import THROUGH_LINKS
from torchrepro_lint.source.root import absolute

__all__ = ["check_parser", "settings_override"]

_T = TypeVar("_T")


def check_parser() -> ArgumentParser:
    """The parser of `torchrepro-lint [PATH ...]`."""
    parser = ArgumentParser(
        PROGRAM,
        "Find, explain and fix what makes PyTorch training irreproducible.",
        listed_commands(),
        "%(prog)s [OPTIONS] [PATH ...]",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=path_named,
        default=[Path()],
        metavar="PATH",
        help="files and folders; - for standard input (default: .)",
    )
    parser.add_argument("--version", "-V", action="version", version=f"{PROGRAM} {__version__}")
    _add_files(parser)
    _add_settings(parser)
    _add_rules(parser)
    _add_fixes(parser)
    _add_known(parser)
    _add_output(parser)
    _add_running(parser)
    return parser


def _add_files(parser: ArgumentParser) -> None:
    files = parser.add_argument_group("files")
    for option, text in (
        ("--exclude", "files and folders to skip, instead of the default list"),
        ("--extend-exclude", "files and folders to skip in addition"),
    ):
        files.add_argument(option, action="append", type=_listed, metavar="PATTERN,...", help=text)
    files.add_argument(
        "--force-exclude", action="store_true", help="skip excluded files even if they are given as PATH"
    )
    files.add_argument(
        "--stdin-filename", type=file_named, metavar="FILE", help="the name of the file that standard input contains"
    )
    gitignore = files.add_mutually_exclusive_group()
    gitignore.add_argument(
        "--respect-gitignore",
        action="store_true",
        default=None,
        help="skip what .gitignore files leave out, as by default",
    )
    gitignore.add_argument(
        "--no-respect-gitignore",
        action="store_false",
        dest="respect_gitignore",
        help="check what .gitignore files leave out, too",
    )
    files.add_argument("--show-files", action="store_true", help="list the files that would be checked")


def _add_settings(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("settings")
    group.add_argument(
        "--config",
        action="append",
        type=config_value,
        metavar="FILE|SETTING",
        help="use this settings file instead of the nearest one; or a setting in TOML that goes before those of files, "
        "such as \"profile = 'strict'\"",
    )
    group.add_argument("--isolated", action="store_true", help="read no settings file")
    group.add_argument("--show-settings", action="store_true", help="print the settings in effect for the first PATH")


def _add_rules(parser: ArgumentParser) -> None:
    rules = parser.add_argument_group("rules", "RULE is a code, a prefix of codes (TRL1), a name, or ALL")
    for names, kind, text in (
        (("--select",), _some_listed, "run only these rules, whatever the settings file selects or ignores"),
        (("--ignore", "--extend-ignore"), _listed, "do not run these rules"),
        (("--extend-select",), _listed, "run these rules in addition"),
    ):
        rules.add_argument(*names, action="append", type=kind, metavar="RULE,...", help=text)
    rules.add_argument(
        "--per-file-ignores",
        "--extend-per-file-ignores",
        action="append",
        type=_patterns_and_rules,
        metavar="PATTERN:RULE,...",
        help="do not run these rules on matching files, in addition to what the settings file says",
    )
    rules.add_argument(
        "--profile",
        choices=["default", "strict"],
        help="the rules that are on by default, or all of them; --select takes precedence",
    )
    rules.add_argument(
        "--min-severity",
        choices=["warning", "error"],
        help="report warnings and errors (the default), or errors only",
    )
    rules.add_argument(
        "--target-torch", metavar="VERSION", help='the torch version that the code targets, such as 2.1 or ">=1.7,<2"'
    )


def _add_fixes(parser: ArgumentParser) -> None:
    fixes = parser.add_argument_group("fixes")
    whether = fixes.add_mutually_exclusive_group()
    whether.add_argument("--fix", action="store_true", default=None, help="fix what can be fixed safely")
    whether.add_argument(
        "--no-fix", action="store_false", dest="fix", help="fix nothing, also where the settings say `fix = true`"
    )
    fixes.add_argument(
        "--fixable",
        action="append",
        type=_some_listed,
        metavar="RULE,...",
        help="fix only the findings of these rules (default: ALL)",
    )
    fixes.add_argument(
        "--extend-fixable",
        action="append",
        type=_listed,
        metavar="RULE,...",
        help="fix the findings of these rules in addition",
    )
    fixes.add_argument(
        "--unfixable", action="append", type=_listed, metavar="RULE,...", help="do not fix the findings of these rules"
    )
    fixes.add_argument("--diff", action="store_true", help="show what --fix would change, but change nothing")
    fixes.add_argument("--unsafe-fixes", action="store_true", help="also make fixes that should be reviewed afterwards")
    fixes.add_argument("--fix-only", action="store_true", help="--fix, and do not report what is left")
    fixes.add_argument(
        "--show-fixes", action="store_true", default=None, help="list the fixes that were made, by file and rule"
    )
    fixes.add_argument(
        THROUGH_LINKS,
        action="store_true",
        help="also change files outside of the project that links in it lead to (with --add-noqa too)",
    )
    fixes.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with status 1 if a file was changed")


def _add_known(parser: ArgumentParser) -> None:
    known = parser.add_argument_group("known findings")
    known.add_argument(
        "--baseline", type=file_named, metavar="FILE", help="do not report the findings recorded in this file"
    )
    known.add_argument(
        "--write-baseline",
        action="store_true",
        help=f"record the present findings in the --baseline file (default: {DEFAULT_BASELINE})",
    )
    known.add_argument("--ignore-noqa", action="store_true", help="report what `# noqa` comments suppress, too")
    known.add_argument(
        "--add-noqa",
        type=_one_line,
        metavar="[=REASON]",
        help="add a `# noqa` comment, with the reason if given, to each finding",
    )


def _add_output(parser: ArgumentParser) -> None:
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: full)",
    )
    output.add_argument(
        "--output-file", "-o", type=file_named, metavar="FILE", help="write to this file what is for standard output"
    )
    output.add_argument("--statistics", action="store_true", help="print the number of findings per rule instead")
    how_much = output.add_mutually_exclusive_group()
    how_much.add_argument(
        "--verbose",
        "-v",
        action="store_true",
        help="also say by which settings and for which torch it checks",
    )
    how_much.add_argument("--quiet", "-q", action="store_true", help="print nothing but findings and errors")
    how_much.add_argument("--silent", "-s", action="store_true", help="as --quiet, and print no findings")
    output.add_argument("--exit-zero", "-e", action="store_true", help="exit with status 0 even if there are findings")
    output.add_argument(
        "--color",
        choices=["auto", "always", "never"],
        default="auto",
        help="auto (the default): on terminals, subject to NO_COLOR and FORCE_COLOR",
    )


def _add_running(parser: ArgumentParser) -> None:
    running = parser.add_argument_group("running")
    running.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    running.add_argument(
        "--jobs", "-j", type=at_least(1), metavar="N", help="use up to N processes (default: one per core)"
    )
    running.add_argument("--no-cache", "-n", action="store_true", help="do not use or store cached results")
    running.add_argument(
        "--cache-dir", type=path_named, metavar="DIR", help=f"the folder for cached results (default: {FOLDER})"
    )


def config_value(text: str) -> Path | Mapping[str, object]:
    """A settings file, or settings in TOML: what has an equals sign and is no file that is there."""
    path = file_named(text)
    if "=" not in text or os.path.exists(path):  # noqa: PTH110 (Path.exists raises where a name is too long)
        return path
    try:
        return settings_table(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(f'"{text}" is neither a file nor a setting in TOML: {wrong}') from None


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _some_listed(text: str) -> tuple[str, ...]:
    """What chooses nothing would pass for a clean project."""
    if not _listed(text):
        raise argparse.ArgumentTypeError("expected at least one rule")
    return _listed(text)


def _one_line(text: str) -> str:
    """A comment ends with its line: what came after it would be code."""
    if len(text.splitlines()) > 1 or text.splitlines(keepends=True) != text.splitlines():
        raise argparse.ArgumentTypeError("the reason must be a single line")
    return text


def _flat(lists: Iterable[tuple[_T, ...]]) -> tuple[_T, ...]:
    return tuple(one for some in lists for one in some)


def _patterns_and_rules(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """`a.py:TRL1,TRL2` and, as flake8 and ruff take it, `a.py:TRL1,TRL2,b.py:TRL3`."""
    found: dict[str, tuple[str, ...]] = {}
    pattern = ""
    for word in _listed(text):
        before, separator, rule = word.rpartition(":")
        pattern = before if separator else pattern
        if not pattern or not rule:
            raise argparse.ArgumentTypeError(f'"{text}" is not of the form PATTERN:RULE,...')
        found[pattern] = (*found.get(pattern, ()), rule)
    if not found:
        raise argparse.ArgumentTypeError(f'"{text}" is not of the form PATTERN:RULE,...')
    return tuple(found.items())


# Options that are called as the settings are: lists that may be said more than once, and single words.
_LISTS = ("select", "ignore", "extend_select", "fixable", "extend_fixable", "unfixable", "exclude", "extend_exclude")
_SINGLE = ("profile", "min_severity", "target_torch", "respect_gitignore")


def settings_override(options: argparse.Namespace) -> SettingsOverride:
    """What the command line says over the settings file: nothing where an option was not given.

    TorchReproLintError where a setting in `--config` is none, or two files are named.
    """
    said: dict[str, object] = {}
    given_files = [one for one in options.config or () if isinstance(one, Path)]
    tables = [one for one in options.config or () if not isinstance(one, Path)]
    if tables:
        said["over_files"] = {
            key: value for one in tables for key, value in settings_over_files(one, "--config: ").items()
        }
    said |= {name: _flat(given) for name in _LISTS if (given := getattr(options, name)) is not None}
    said |= {name: given for name in _SINGLE if (given := getattr(options, name)) is not None}
    if options.per_file_ignores is not None:
        said["per_file_ignores"] = _flat(options.per_file_ignores)
        for pattern, _ in _flat(options.per_file_ignores):
            require_pattern(pattern, "--per-file-ignores")
    for name in ("exclude", "extend_exclude"):
        for pattern in _flat(getattr(options, name) or ()):
            require_pattern(pattern, f"--{name.replace('_', '-')}")
    if len(given_files) > 1 or (given_files and options.isolated):
        raise TorchReproLintError("--config names one settings file at most, and none with --isolated")
    if given_files:
        said["config"] = absolute(given_files[0])
    if options.isolated:
        said["config"] = None
    if options.baseline is not None:
        said["baseline"] = absolute(options.baseline)
    if options.no_cache:
        said["cache"] = False
    if options.unsafe_fixes:
        said["unsafe_fixes"] = True
    if options.ignore_noqa:
        said["ignore_noqa"] = True
    return cast("SettingsOverride", said)
