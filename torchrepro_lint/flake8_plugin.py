"""The flake8 plugin. flake8 shows it one file after another; the findings come from an analysis of the whole project,
and only of what concerns the files that flake8 was given by name.

It is made once for each project. flake8's processes share it through the cache: the first makes it, the others wait.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from torchrepro_lint import __version__
from torchrepro_lint.console import print_errors
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.settings import SettingsOverride, override_from_table
from torchrepro_lint.source.prefilter import is_wanted
from torchrepro_lint.source.root import absolute, is_installed
from torchrepro_lint.source.stamps import stamp

if TYPE_CHECKING:
    import argparse

    from flake8.options.manager import OptionManager

    from torchrepro_lint.diagnostics import Finding
    from torchrepro_lint.engine import Report

__all__ = ["Plugin"]


class Plugin:
    """What flake8 calls for each file. Codes are `TRLnnn`."""

    name = "torchrepro-lint"
    version = __version__

    # What flake8's own options say over the settings file, and whether its comments are to silence nothing.
    override: ClassVar[SettingsOverride] = {}
    disable_noqa: ClassVar[bool] = False
    # The files that flake8 was given, None where it looks for files itself.
    named: ClassVar[frozenset[Path] | None] = None
    # Whether flake8 shows anything of ours.
    is_shown: ClassVar[bool] = True

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Tell flake8 of our options: on its command line, and in its configuration file."""
        add = manager.add_option
        add(
            "--torchrepro-lint-profile",
            choices=["default", "strict"],
            parse_from_config=True,
            help="The TRL rules that run: those on by default, or all (Default: from torchrepro-lint's settings)",
        )
        add(
            "--torchrepro-lint-min-severity",
            choices=["warning", "error"],
            parse_from_config=True,
            help="Report warnings and errors, or errors only (Default: from torchrepro-lint's settings)",
        )
        add(
            "--torchrepro-lint-target-torch",
            metavar="VERSION",
            parse_from_config=True,
            help='The torch version that the code targets, such as 2.1 or ">=1.7,<2" (Default: from the project)',
        )
        add(
            "--torchrepro-lint-baseline",
            metavar="FILE",
            parse_from_config=True,
            normalize_paths=True,
            help="Do not report the findings recorded in this file",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Take over what flake8 was told. A rule of the strict profile runs where flake8 selects it by its code."""
        names = ("profile", "min-severity", "target-torch")
        said = {name: getattr(options, f"torchrepro_lint_{name.replace('-', '_')}") for name in names}
        try:
            # flake8 itself looks at its command line only, and not at what its configuration says.
            override = override_from_table(said, "--torchrepro-lint-")
        except TorchReproLintError as error:
            from flake8.exceptions import ExecutionError

            raise ExecutionError(f"torchrepro-lint: {error}") from error
        if options.torchrepro_lint_baseline is not None:
            override["baseline"] = absolute(options.torchrepro_lint_baseline)
        chosen = [*(options.select or ()), *(options.extend_select or ())]
        codes = tuple(code for code in chosen if code.startswith("TRL") and len(code) > len("TRL"))
        if codes:
            override["extend_select"] = codes
        cls.override, cls.disable_noqa = override, options.disable_noqa
        cls.is_shown = _is_any_shown(options)
        given = [absolute(name) for name in getattr(options, "filenames", ())]
        cls.named = frozenset(given) if given and all(path.is_file() for path in given) else None

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        # flake8 looks at the names of the parameters: `tree` makes this a plugin for whole files.
        self._filename = filename
        self._lines = lines

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Row, column from 0, text with the code in front, and this class, for each finding in the file."""
        text = "".join(self._lines)
        if not self.is_shown:
            return
        # flake8 would walk into an environment that is below the project.
        if is_installed(absolute(self._filename)) or not is_wanted(text.encode("utf-8", "replace")):
            return
        for finding in _findings(absolute(self._filename), text):
            start = finding.location.start
            message = " ".join(finding.message.split())
            yield start.row, start.column - 1, f"{finding.code} {message}", type(self)


#: A code of each family that there can be: what flake8 shows of them, it shows of their rules.
_FAMILIES: Final = tuple(f"TRL{family}00" for family in range(10))


def _is_any_shown(options: argparse.Namespace) -> bool:
    """Whether flake8 shows any code of ours, by what it selects and ignores: `--select E9,F` needs no analysis."""
    from flake8.style_guide import Decision, DecisionEngine

    decision_for = DecisionEngine(options).decision_for
    chosen = (*(options.select or ()), *(options.extend_select or ()))
    named = (code for code in chosen if code.startswith("TRL"))
    return any(decision_for(code) is Decision.Selected for code in (*_FAMILIES, *named))


_PATIENCE = 300.0  # seconds that a process waits for another one's analysis of the same project


@dataclass(frozen=True, slots=True)
class _Analysis:
    """The findings in a project by file, with what the file looked like on the disk when they were made."""

    findings: dict[Path, list[Finding]]
    stamps: dict[Path, tuple[int, int]]


# By file, for all files of the projects that this process has analysed.
_ANALYSES: dict[Path, _Analysis] = {}


def _findings(path: Path, text: str) -> list[Finding]:
    try:
        if _differs_from_disk(path, text):
            # From standard input, or from an editor that has not saved: for this once, in the place of the file.
            return _of_file(path, text)
        analysis = _ANALYSES.get(path)
        if analysis is None or analysis.stamps[path] != stamp(path):
            analysis = _analyse(path)
        return analysis.findings.get(path, [])
    except TorchReproLintError as error:
        from flake8.exceptions import ExecutionError

        raise ExecutionError(f"torchrepro-lint: {error}") from error


def _differs_from_disk(path: Path, text: str) -> bool:
    from torchrepro_lint.source.text import SourceError, read_source

    if not path.is_file():
        return True
    try:
        saved = read_source(path).text
    except SourceError:
        # flake8 guesses an encoding then; the engine says what is wrong with the file.
        return False
    return saved.replace("\r\n", "\n").replace("\r", "\n") != text.replace("\r\n", "\n").replace("\r", "\n")


def _of_file(path: Path, text: str) -> list[Finding]:
    from torchrepro_lint.engine import check

    report = check([path], Plugin.override, overlay={path: text}, suppressed_too=Plugin.disable_noqa)
    print_errors(report.errors)
    return _told(report, {path}, {path: text})


def _analyse(path: Path) -> _Analysis:
    from torchrepro_lint.engine import CacheChoice, RunOptions, check
    from torchrepro_lint.source.project import Projects

    projects = Projects(Plugin.override)
    files = {path, *(one for one in projects.whole(path) if Plugin.named is None or one in Plugin.named)}
    # Taken before the files are read: what changes in between is then seen as changed.
    stamps = {file: stamp(file) for file in files}
    # flake8 starts as many processes as there are cores, and each is shown files of the project.
    run = RunOptions(cache=CacheChoice(wait=_PATIENCE))
    named = frozenset() if Plugin.named is None else Plugin.named & files
    report = check(files, Plugin.override, projects=projects, suppressed_too=Plugin.disable_noqa, run=run, named=named)
    print_errors(report.errors)
    findings: dict[Path, list[Finding]] = {}
    for finding in _told(report, files, {}):
        findings.setdefault(finding.location.path, []).append(finding)
    analysis = _Analysis(findings, stamps)
    _ANALYSES.update(dict.fromkeys(files, analysis))
    return analysis


def _told(report: Report, files: Collection[Path], overlay: Mapping[Path, str]) -> list[Finding]:
    """The findings in the files, and at the steps in them what they break in others."""
    from torchrepro_lint.report.at_steps import told_at_steps
    from torchrepro_lint.report.texts import Texts

    return [*report.findings, *told_at_steps(report.elsewhere, files, Texts(overlay))]
