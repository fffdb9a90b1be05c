"""From paths to findings: the only place that knows the order of the steps."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.cache.asked import Asked
from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Applicability, Finding, Location
from torchrepro_lint.housekeeping import UNREADABLE_FILE
from torchrepro_lint.interest import is_any_wanted, of_interest
from torchrepro_lint.internal_errors import internal_error
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.selection import RuleLike, is_ignored, rules_of, runs, selected_rules
from torchrepro_lint.settings import Settings, SettingsOverride
from torchrepro_lint.source.contents import Contents, Read
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.text import SourceError
from torchrepro_lint.suppression import Checked, settled
from torchrepro_lint.toolkit import ProgramLike, Toolkit

if TYPE_CHECKING:
    from torchrepro_lint.baseline import Baseline

__all__ = ["CacheChoice", "Report", "Told", "check"]


@dataclass(frozen=True, slots=True)
class CacheChoice:
    """Where results are kept; without `folder`, in the root of the first project. The settings may say no to it."""

    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a check gives: the findings in order, how many files were asked about, and the tool's own faults.

    `unsafe_allowed` are the files with findings in whose project unsafe fixes are switched on. `notices` are sentences
    about files, for a person to know; they are no findings. `known` is how many findings a baseline has hidden, and
    `stale` how many of its records for these files were not found.
    """

    findings: tuple[Finding, ...] = ()
    files_checked: int = 0
    errors: tuple[str, ...] = ()
    unsafe_allowed: frozenset[Path] = frozenset()
    notices: tuple[tuple[Path, str], ...] = ()
    known: int = 0
    stale: int = 0

    def may_fix(self, finding: Finding) -> bool:
        """Whether `--fix` mends the finding, under the settings of its project."""
        if finding.fix is None:
            return False
        return finding.fix.applicability is Applicability.SAFE or finding.location.path in self.unsafe_allowed


#: Hears how far a check has come: a share, 0 to 1, and what it is about.
Told: TypeAlias = Callable[[float, str], None]


def _part_of(told: Told, number: int, count: int) -> Told:
    """Tells of one of `count` parts of the work as of the whole."""
    return lambda share, what: told((number + share) / count, what)


# What the command line may say that names rules.
_OF_RULES = {"select", "extend_select", "ignore", "per_file_ignores", "fixable", "unfixable"}


def check(
    paths: Iterable[Path],
    override: SettingsOverride | None = None,
    *,
    overlay: Mapping[Path, str] | None = None,
    suppressed_too: bool = False,
    projects: Projects | None = None,
    toolkit: Toolkit | None = None,
    jobs: int = 1,
    cache: CacheChoice | None = None,
    told: Told = lambda share, what: None,
) -> Report:
    """The findings in the files that `paths` stand for; the facts come from the whole of their projects.

    `overlay` holds texts, by absolute path, that count instead of those on the disk; a path in it need not exist.
    With `suppressed_too`, comments silence nothing. `projects` may bring what is known of the disk; its settings then
    count, and not `override`. `jobs` is how many processes may work. With `cache`, what an equal run has found is
    taken from there, and what this one finds is kept. `told` hears how far it has come.

    TorchReproLintError where a path is not there, or the settings do not say what they should.
    """
    projects = projects or Projects(override or {})
    overlay = overlay or {}
    given = list(paths)
    requested = {path for path in given if path in overlay}
    requested.update(projects.files(path for path in given if path not in overlay))
    # Read at the start: that one is not there is said before a project has been looked at for a minute.
    known = [] if suppressed_too else _baselines(requested, projects)
    contents = Contents()
    kept = None
    toolkit = toolkit or Toolkit()
    if cache is not None and toolkit.is_own and not (overlay or suppressed_too) and is_any_wanted(requested, contents):
        from torchrepro_lint.cache.run import CachedRun

        kept = CachedRun(requested, projects, cache.folder, repr(sorted((override or {}).items())), contents)
        stored = kept.load()
        if stored is not None:
            unsafe = frozenset(path for path in requested if projects.of(path).settings.unsafe_fixes)
            report = Report(stored[0], len(requested), (), unsafe, stored[1])
            return _without_known(report, known, projects, overlay, toolkit)
    if override and override.keys() & _OF_RULES:
        selected_rules(toolkit.rules(), Settings().overridden(override))  # a misspelt rule is said, whatever the files
    with _without_collection():
        report, asked = _report(requested, projects, overlay, contents, suppressed_too, toolkit, jobs, told)
    if kept is not None and not report.errors:
        kept.save(report.findings, report.notices, asked)
    return _without_known(report, known, projects, overlay, toolkit)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without the search for cycles, which would go through all trees again and again: they hold none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _report(
    requested: Set[Path], projects: Projects, overlay: Mapping[Path, str], read: Read, suppressed_too: bool,
    toolkit: Toolkit, jobs: int, told: Told,
) -> tuple[Report, Asked]:  # fmt: skip
    """The report before baselines are heard, and what it was made of."""
    candidates = of_interest(in_order(requested), projects, overlay, read)
    findings = candidates.broken
    errors: list[str] = []
    unsafe: set[Path] = set()
    asked = Asked()
    groups = sorted(candidates.groups.items(), key=lambda group: (group[0].root, str(group[0].also)))
    for number, (project, files) in enumerate(groups):
        part = _part_of(told, number, len(groups))
        commented = candidates.commented.intersection(files)
        checked, failed, program = _check_project(project, files, commented, overlay, read, toolkit, jobs, part)
        findings += checked.findings if suppressed_too else settled(checked, project.settings, overlay, read)
        errors += failed
        if program is not None:
            asked.outside.setdefault(project.root, {}).update(program.outside)
            asked.looks.append(program.looks)
        unsafe.update(files if project.settings.unsafe_fixes else ())
    findings.sort(key=lambda one: one.sort_key)
    found = tuple(findings)
    return Report(found, len(requested), tuple(errors), frozenset(unsafe), tuple(candidates.notices)), asked


def _baselines(files: Iterable[Path], projects: Projects) -> list[tuple[Baseline, list[Path]]]:
    """The baselines of the projects, each with the files whose findings it may hide.

    TorchReproLintError where one is not there, or is no such file.
    """
    by_baseline: dict[Path, list[Path]] = {}
    for path in files:
        if (baseline := projects.of(path).settings.baseline) is not None:
            by_baseline.setdefault(baseline, []).append(path)
    if not by_baseline:
        return []
    from torchrepro_lint.baseline import read_baseline

    return [(read_baseline(path), in_order(group)) for path, group in sorted(by_baseline.items())]


def _without_known(
    report: Report, baselines: list[tuple[Baseline, list[Path]]], projects: Projects, overlay: Mapping[Path, str],
    toolkit: Toolkit,
) -> Report:  # fmt: skip
    """The report less the findings that the baselines record."""
    if not baselines:
        return report
    texts = Texts(overlay)
    findings, stale = list(report.findings), 0
    for records, group in baselines:
        own = set(group)
        unknown = set(map(id, records.unknown((one for one in findings if one.location.path in own), texts)))
        findings = [one for one in findings if one.location.path not in own or id(one) in unknown]
        stale += records.stale(group, runs(projects.of(group[0]).settings, toolkit.rules))
    known = len(report.findings) - len(findings)
    return replace(report, findings=tuple(findings), known=known, stale=stale)


def _check_project(
    project: Project, files: Sequence[Path], commented: Set[Path], overlay: Mapping[Path, str], read: Read,
    toolkit: Toolkit, jobs: int, told: Told,
) -> tuple[Checked, list[str], ProgramLike | None]:  # fmt: skip
    """What the rules say of `files`, a line for each that failed, and the program that they were asked about; a rule
    that fails keeps none from the others.
    """
    from torchrepro_lint.facts.readable import Readers

    rules = rules_of(project, toolkit.rules())
    everything = in_order({*project.files, *files})
    own = {path: overlay[path] for path in everything if path in overlay}
    wanted = frozenset(files)
    try:
        program = toolkit.make_program(
            project.root, everything, project.settings, project.target, own, read=read,
            asked=wanted if wanted != set(everything) else None,
        )  # fmt: skip
    except Exception as error:
        return Checked((), frozenset(), (), ()), [internal_error("reading the project", error, everything)], None
    readers = Readers([path for path in files if path not in overlay], jobs)
    try:
        while True:
            try:
                found, ran, errors = _findings(rules, program, everything, told)
                break
            except SourceError as refused:
                # Python reads the file and libcst does not: nothing in it can be placed or mended.
                program = program.without(refused)
        told(1.0, "the files that no rule has looked at")
        # Not every rule looks at every file, and what is asked about must be readable.
        unread = [*readers.doubtful(program.has_read), *(path for path in files if path in overlay)]
    finally:
        readers.close()
    for path in unread:
        try:
            program.facts(path)
        except Exception as error:
            errors.append(internal_error(f"reading {path}", error, [path]))
    found = [finding for finding in found if finding.location.path in wanted]
    broken = [
        UNREADABLE_FILE.finding(path, *where)
        for path, where in program.unreadable.items()
        if path in wanted and not is_ignored(UNREADABLE_FILE, path, project.settings)
    ]
    return Checked((*found, *broken), frozenset(commented), tuple(ran), tuple(toolkit.rules())), errors, program


def _findings(
    rules: Sequence[RuleLike], program: ProgramLike, files: Sequence[Path], told: Told
) -> tuple[list[Finding], list[RuleMetadata], list[str]]:
    """What the rules find, each finding once; which of them came to their end; a line for each that failed.

    SourceError for a file that turns out to be unreadable where a finding is to be placed.
    """
    found: dict[tuple[str, Location, str], Finding] = {}
    ran: list[RuleMetadata] = [UNREADABLE_FILE]
    errors: list[str] = []
    for number, rule in enumerate(rules):
        said = (number / len(rules), f"{counted(len(files), 'file')}: {rule.name}")
        told(*said)
        try:
            for finding in rule.check(program):
                told(*said)
                found.setdefault((finding.code, finding.location, finding.message), finding)
            ran.append(rule)
        except Exception as error:
            if isinstance(error, SourceError) and error.path not in program.unreadable:
                raise
            errors.append(internal_error(f"{rule.code} {rule.name}", error, files))
    return list(found.values()), ran, errors
