"""From paths to findings: the only place that knows the order of the steps."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torchrepro_lint.diagnostics import Applicability, Finding, Location, Position, Severity
from torchrepro_lint.selection import UNREADABLE_CODE, UNREADABLE_NAME, RuleLike, is_ignored_code, selected_rules
from torchrepro_lint.settings import Settings, SettingsOverride
from torchrepro_lint.source.cells import python_text
from torchrepro_lint.source.noqa import is_suppressed, read_directives
from torchrepro_lint.source.prefilter import is_interesting
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import SourceError, decode, read_bytes, read_source

__all__ = ["ProgramFactory", "ProgramLike", "Report", "Toolkit", "check"]


class ProgramLike(Protocol):
    """What the engine asks of a program."""

    @property
    def unreadable(self) -> Mapping[Path, tuple[int, int, str]]:
        """Row, column and reason for each file that something looked at and could not be parsed."""
        ...

    def facts(self, path: Path) -> object:
        """What a file says: a look at it."""
        ...


class ProgramFactory(Protocol):
    """Makes the program of a project. `overlay` holds texts that count instead of those on the disk."""

    def __call__(
        self, root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str]
    ) -> ProgramLike: ...


# Both are imported when a file needs them: they bring the parser, which takes longer to load than to say "clean".
def _own_rules() -> Iterable[RuleLike]:
    from torchrepro_lint.rules import all_rules

    return all_rules()


def _own_program(
    root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str]
) -> ProgramLike:
    from torchrepro_lint.program.program import Program

    return Program(root, files, settings, target, overlay=overlay)


@dataclass(frozen=True, slots=True)
class Toolkit:
    """What the engine runs: the rules, and what makes the program that they are asked about."""

    rules: Callable[[], Iterable[RuleLike]] = _own_rules
    make_program: ProgramFactory = _own_program

    def sorted_rules(self) -> list[RuleLike]:
        """The rules in the order of their codes."""
        return sorted(self.rules(), key=lambda rule: rule.code)


@dataclass(frozen=True, slots=True)
class Report:
    """What a check gives: the findings in order, how many files were asked about, and the tool's own faults.

    `unsafe_allowed` are the files with findings in whose project unsafe fixes are switched on. `notices` are sentences
    about files, for a person to know; they are no findings.
    """

    findings: tuple[Finding, ...] = ()
    files_checked: int = 0
    errors: tuple[str, ...] = ()
    unsafe_allowed: frozenset[Path] = frozenset()
    notices: tuple[tuple[Path, str], ...] = ()

    def may_fix(self, finding: Finding) -> bool:
        """Whether `--fix` mends the finding, under the settings of its project."""
        if finding.fix is None:
            return False
        return finding.fix.applicability is Applicability.SAFE or finding.location.path in self.unsafe_allowed


def check(
    paths: Iterable[Path],
    override: SettingsOverride | None = None,
    *,
    overlay: Mapping[Path, str] | None = None,
    suppressed_too: bool = False,
    projects: Projects | None = None,
    toolkit: Toolkit | None = None,
) -> Report:
    """The findings in the files that `paths` stand for; the facts come from the whole of their projects.

    `overlay` holds texts, by absolute path, that count instead of those on the disk; a path in it need not exist.
    With `suppressed_too`, comments silence nothing. `projects` may bring what is known of the disk; its settings then
    count, and not `override`. TorchReproLintError where a path is not there, or the settings
    do not say what they should.
    """
    toolkit, overlay, override = toolkit or Toolkit(), overlay or {}, override or {}
    if override.keys() & {"select", "extend_select", "ignore"}:
        selected_rules(toolkit.rules(), Settings().overridden(override))  # a misspelt rule is said, whatever the files
    projects = projects or Projects(override)
    given = list(paths)
    requested = {path for path in given if path in overlay}
    requested.update(projects.files(path for path in given if path not in overlay))
    notices: list[tuple[Path, str]] = []
    groups, findings = _of_interest(sorted(requested), projects, overlay, notices)
    errors: list[str] = []
    unsafe: set[Path] = set()
    for project, files in groups:
        found, failed = _check_project(project, files, overlay, toolkit)
        findings += found if suppressed_too else _without_suppressed(found, overlay)
        errors += failed
        unsafe.update(files if project.settings.unsafe_fixes else ())
    findings.sort(key=lambda one: one.sort_key)
    return Report(tuple(findings), len(requested), tuple(errors), frozenset(unsafe), tuple(notices))


def _of_interest(
    requested: Sequence[Path], projects: Projects, overlay: Mapping[Path, str], notices: list[tuple[Path, str]]
) -> tuple[list[tuple[Project, list[Path]]], list[Finding]]:
    """The files that may hold a finding, by project, and findings for the files that cannot be read. What is to be
    said of a file beside its findings goes into `notices`.
    """
    broken: list[Finding] = []
    groups: dict[Project, list[Path]] = {}
    for path in requested:
        try:
            if path in overlay:
                wanted = is_interesting(overlay[path].encode("utf-8", "replace"))
            else:
                data = read_bytes(path)
                source = decode(path, data) if is_interesting(data) else None
                wanted = source is not None and is_interesting(source.searched)
                if source is not None and wanted and (notice := source.notice) is not None:
                    notices.append((path, notice))
        except SourceError as error:
            if not is_ignored_code(UNREADABLE_CODE, UNREADABLE_NAME, projects.of(path).settings):
                broken.append(_unreadable(path, error.row, error.column, error.reason))
            continue
        if wanted:
            groups.setdefault(projects.of(path), []).append(path)
    return sorted(groups.items(), key=lambda group: (group[0].root, str(group[0].also))), broken


def _check_project(
    project: Project, files: Sequence[Path], overlay: Mapping[Path, str], toolkit: Toolkit
) -> tuple[list[Finding], list[str]]:
    """The findings in `files`, and a line for each rule that failed; a rule that fails keeps none from the others."""
    rules = selected_rules(toolkit.rules(), project.settings)
    everything = sorted({*project.files, *files})
    own = {path: overlay[path] for path in everything if path in overlay}
    try:
        program = toolkit.make_program(project.root, everything, project.settings, project.target, own)
    except Exception as error:
        return [], [_internal_error("reading the project", error, everything)]
    wanted = set(files)
    found: dict[tuple[str, Location, str], Finding] = {}
    errors: list[str] = []
    for rule in rules:
        try:
            for finding in rule.check(program):
                if finding.location.path in wanted:
                    found.setdefault((finding.code, finding.location, finding.message), finding)
        except Exception as error:
            errors.append(_internal_error(f"{rule.code} {rule.name}", error, everything))
    for path in files:
        try:
            program.facts(path)  # not every rule looks at every file, and what is asked about must be readable
        except Exception as error:
            errors.append(_internal_error(f"reading {path}", error, [path]))
    broken = [_unreadable(path, *where) for path, where in program.unreadable.items() if path in wanted]
    if is_ignored_code(UNREADABLE_CODE, UNREADABLE_NAME, project.settings):
        broken = []
    return [*found.values(), *broken], errors


def _unreadable(path: Path, row: int, column: int, reason: str) -> Finding:
    start = Position(row, column)
    location = Location(path, start, Position(row, column + 1))
    return Finding(UNREADABLE_CODE, UNREADABLE_NAME, f"this file cannot be read: {reason}", Severity.ERROR, location)


def _without_suppressed(findings: Iterable[Finding], overlay: Mapping[Path, str]) -> Iterator[Finding]:
    by_path: dict[Path, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.location.path, []).append(finding)
    for path, group in by_path.items():
        text = overlay[path] if path in overlay else read_source(path).text
        directives = read_directives(python_text(path, text))
        yield from (finding for finding in group if not is_suppressed(finding, directives))


def _internal_error(what: str, error: Exception, files: Sequence[Path]) -> str:
    """One line on a fault of the tool: which part, in which file of the user, where in our code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "torchrepro_lint" in frame.filename] or frames
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    text = " ".join(str(error).split())
    file = _file_in_hand(error, set(files))
    where = f" in {file}" if file is not None and str(file) not in what else ""
    return f"internal error: {what}{where}: {type(error).__name__}: {text}{place}; please report it"


def _file_in_hand(error: Exception, files: set[Path]) -> Path | None:
    """The user's file that the failing code was at, as far as its local variables tell."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            path = value
            with suppress(Exception):  # a property of an object whose making has just failed
                path = value if isinstance(value, Path) else value.path
            if isinstance(path, Path) and path in files:
                return path
    return None
