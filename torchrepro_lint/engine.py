"""From paths to findings. No other module knows the order of the steps."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.cache.dependencies import Dependencies
from torchrepro_lint.diagnostics import Finding, LeftToStrict, Location
from torchrepro_lint.halves import without_safe_halves
from torchrepro_lint.housekeeping import UNREADABLE_FILE
from torchrepro_lint.interest import is_any_wanted, of_interest
from torchrepro_lint.internal_errors import internal_error
from torchrepro_lint.left_elsewhere import Checks, compared_with, unsafe_beside_others, without_safe_parts
from torchrepro_lint.project_check import Analysis, CacheChoice, Progress, RunOptions, bytes_of, check_project
from torchrepro_lint.regular_files import collected_notices
from torchrepro_lint.run_report import Report, baselines_of, severe_enough, without_known
from torchrepro_lint.selection import (
    is_left_since_it_repeats,
    is_left_to_strict,
    is_severe_enough,
    require_known_rules,
)
from torchrepro_lint.settings import Settings, SettingsOverride
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.noqa import may_silence
from torchrepro_lint.source.project import Project, Projects, repository
from torchrepro_lint.source.root import absolute
from torchrepro_lint.source.text import without_surrogates
from torchrepro_lint.suppression import Checked, merged, settled
from torchrepro_lint.toolkit import ProgramLike, Toolkit

if TYPE_CHECKING:
    from torchrepro_lint.cache.run import CachedRun

__all__ = ["CacheChoice", "Progress", "Report", "RunOptions", "check"]


def _part_of(progress: Progress, number: int, count: int) -> Progress:
    """Reports one of `count` parts of the work as of the whole."""
    return lambda share, what: progress((number + share) / count, what)


# What the command line may say that names rules.
_OF_RULES = {
    "select", "extend_select", "ignore", "per_file_ignores", "fixable", "extend_fixable", "unfixable", "over_files"
}  # fmt: skip


def check(
    paths: Iterable[Path],
    override: SettingsOverride | None = None,
    *,
    overlay: Mapping[Path, str] | None = None,
    suppressed_too: bool = False,
    projects: Projects | None = None,
    toolkit: Toolkit | None = None,
    run: RunOptions | None = None,
    contents: Contents | None = None,
    only: Set[Path] | None = None,
    named: Set[Path] | None = None,
    fixed: Sequence[Finding] = (),
) -> Report:
    """The findings in the files that `paths` stand for, analysed in the context of their whole projects.

    Args:
        paths: Files and folders.
        override: Settings that take precedence over those of the project.
        overlay: Texts, by absolute path, that replace those on the disk; the files need not exist.
        suppressed_too: Also report what comments suppress.
        projects: What is already known about the projects on the disk. Its settings are used, and not `override`.
        toolkit: The rules to run, and what makes the program that they query.
        run: How to go about it.
        contents: The files as they are read, for a caller that edits them: findings with fixes are of these bytes.
        only: Those of the files whose findings are wanted.
        named: Those that somebody has named, and not the folder that they are in; else the `paths` that are files.
        fixed: Findings that safe fixes have removed from these texts: the report says which of the fixes are halves.

    Raises:
        TorchReproLintError: A path does not exist, or the settings are invalid.
    """
    override, toolkit, run = override or {}, toolkit or Toolkit(), run or RunOptions()
    overlay = {path: without_surrogates(text) for path, text in (overlay or {}).items()}
    given = list(paths)
    with collected_notices() as unread:
        projects = projects or Projects(override)
        on_disk = [path for path in given if path not in overlay]
        requested = {*projects.files(on_disk), *(path for path in given if path in overlay)}
        # Read at the start: that one is not there is said before a project has been looked at for a minute.
        known = [] if suppressed_too else baselines_of(requested, projects)
        to_edit = contents is not None
        contents = contents or Contents()
        if named is None:
            named = frozenset({absolute(path) for path in given if path in overlay or not path.is_dir()} & requested)
        folders = frozenset(absolute(path) for path in given if path not in overlay and path.is_dir())
        cached, report = None, None
        if not (overlay or suppressed_too) and toolkit.is_own:
            cached = _cached_run(requested, named, folders, projects, override, contents, run.cache)
            report = _stored(cached, requested, projects, to_edit=to_edit)
        if report is None:
            if override.keys() & _OF_RULES:
                # A misspelt rule is said, whatever the files.
                require_known_rules(override, toolkit.rules())
            analysis = Analysis(overlay, contents, toolkit, run, only, named, folders, fixed=fixed)
            wait = run.cache.wait if run.cache is not None else 0
            with cached.alone(wait) if cached is not None and wait else nullcontext():
                # Who has waited finds what another process has made meanwhile.
                report = _stored(cached, requested, projects, to_edit=to_edit) if wait else None
                report = report or _made(analysis, requested, projects, cached, suppressed_too=suppressed_too)
        unused = cached.notices if cached is not None else ()
        # Not stored: the permissions of a folder can change without any file doing so.
        on_files = ((path, unread[path]) for path in in_order(unread))
        report = replace(report, notices=(*projects.notices(on_disk), *on_files, *unused, *report.notices))
    return severe_enough(without_known(report, known, projects, overlay, toolkit), projects)


def _cached_run(
    files: Set[Path],
    named: Set[Path],
    folders: Set[Path],
    projects: Projects,
    override: SettingsOverride,
    contents: Contents,
    choice: CacheChoice | None,
) -> CachedRun | None:
    """This run as the cache knows it; None without a cache, or where there is nothing to look at."""
    if choice is None or not is_any_wanted(files, contents):
        return None
    from torchrepro_lint.cache.run import CachedRun

    by_name = "all" if named == files else sorted(map(str, named))
    # The folders that were given count by what they make of one repository: flake8, which is given files, shares them.
    repositories = {str(repository(root, folders)) for root in {projects.of(path).root for path in files}}
    how = repr((sorted(override.items()), by_name, sorted(repositories)))
    return CachedRun(files, projects, choice.folder, how, contents)


def _stored(cached: CachedRun | None, files: Set[Path], projects: Projects, *, to_edit: bool) -> Report | None:
    """The report of an equal run, if the cache holds one; `to_edit`, if it is of the files as they are read now."""
    stored = cached.load() if cached is not None else None
    if cached is None or stored is None:
        return None
    if to_edit and not cached.is_of(edit.path for one in stored[0] if one.fix is not None for edit in one.fix.edits):
        return None
    unsafe = frozenset(path for path in files if projects.of(path).settings.unsafe_fixes)
    findings, notices, left = stored
    own, untold = _told([one for one in findings if one.location.path in files], projects)
    elsewhere = tuple(one for one in findings if one.location.path not in files)
    return Report(own, len(files), (), unsafe, notices, left=left, elsewhere=elsewhere, untold=untold)


def _made(
    analysis: Analysis, requested: Set[Path], projects: Projects, cached: CachedRun | None, *, suppressed_too: bool
) -> Report:
    """The report, made by the rules and kept in the cache."""
    with _without_collection():
        report, dependencies = _report(analysis, requested, projects, suppressed_too=suppressed_too)
    if cached is not None and not report.errors:
        cached.save((*report.everything, *report.untold), report.notices, report.left, dependencies)
    return report


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without garbage collection of cycles: it would walk through all trees again and again, and they contain none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _report(
    analysis: Analysis, requested: Set[Path], projects: Projects, *, suppressed_too: bool
) -> tuple[Report, Dependencies]:
    """The report before baselines are applied, and what it depends on."""
    overlay, read = analysis.overlay, analysis.read
    candidates = of_interest(in_order(requested), projects, overlay, read, analysis.named)
    findings: list[Finding] = []
    elsewhere: list[Finding] = []
    left: list[Finding] = []
    for one in candidates.broken:
        if analysis.wants(one.location.path):
            (left if is_left_to_strict(one, projects.of(one.location.path).settings) else findings).append(one)
    errors: list[str] = []
    unsafe: set[Path] = set()
    halves: list[Finding] = []
    dependencies = Dependencies()
    groups = sorted(candidates.groups.items(), key=lambda group: (group[0].root, str(group[0].also)))
    wanted = [(project, files) for project, files in groups if any(map(analysis.wants, files))]
    by_repository: dict[Path, list[tuple[Project, list[Path]]]] = {}
    for project, files in wanted:
        by_repository.setdefault(repository(project.root, analysis.folders), []).append((project, files))
    done = 0
    for top, members in by_repository.items():
        checks: list[_OfProject] = []
        for project, files in members:
            part = _part_of(analysis.run.progress, done, len(wanted))
            done += 1
            commented = {path for path in candidates.commented.intersection(files) if analysis.wants(path)}
            checked, failed, program = check_project(analysis, project, files, commented, requested, part)
            if suppressed_too:
                own, others = merged(checked.findings), merged(checked.elsewhere)
            else:
                own, others = settled(checked, project.settings, overlay, read)
            if program is not None:
                dependencies.outside.setdefault(project.root, {}).update(program.outside)
                dependencies.looks.append(program.looks)
            checks.append(_OfProject(project, checked, own, program))
            elsewhere += [one for one in others if not _is_left(one, project.settings)]
            errors += failed
            unsafe.update(files if project.settings.unsafe_fixes else ())
        if analysis.toolkit.is_own and analysis.only is None and not suppressed_too:
            halved, failed = _beside_what_is_left(analysis, top, checks, dependencies)
            halves += halved
            errors += failed
        for each in checks:
            for finding in each.told:
                (left if is_left_to_strict(finding, each.project.settings) else findings).append(finding)
    found = sorted(without_safe_halves(merged(_each_once(findings)), left), key=lambda one: one.sort_key)
    told, untold = _told(found, projects)
    report = Report(
        told,
        len(requested),
        tuple(errors),
        frozenset(unsafe),
        tuple(candidates.notices),
        left=_left_to_strict(left, projects),
        elsewhere=tuple(sorted(_each_once(elsewhere), key=lambda one: one.sort_key)),
        halves=tuple(halves),
        untold=untold,
    )
    return report, dependencies


def _is_left(finding: Finding, settings: Settings) -> bool:
    """Whether only the strict profile reports a finding."""
    return is_left_to_strict(finding, settings) or is_left_since_it_repeats(finding, settings)


def _told(findings: Sequence[Finding], projects: Projects) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings that the settings of their projects ask for, and those about what two runs agree in as it is."""
    told: list[Finding] = []
    untold: list[Finding] = []
    for one in findings:
        settings = projects.of(one.location.path).settings
        (untold if is_left_since_it_repeats(one, settings) else told).append(one)
    return tuple(told), tuple(untold)


@dataclass(slots=True)
class _OfProject:
    """What the rules have found in a project, what is told of it, and the program that was queried."""

    project: Project
    checked: Checked
    told: list[Finding]
    program: ProgramLike | None


def _beside_what_is_left(
    analysis: Analysis, top: Path, projects: Sequence[_OfProject], dependencies: Dependencies
) -> tuple[list[Finding], list[str]]:
    """Makes fixes unsafe beside a place that is left in any file of the projects of one repository, whichever files are
    asked about. Gives those of the findings that are fixed beside which one is left, and a message where that could not
    be told.
    """
    files = frozenset[Path]().union(*(one.checked.files for one in projects))
    fixed = [one for one in analysis.fixed if one.location.path in files]
    compared = compared_with([*fixed, *(finding for one in projects for finding in one.told)])
    if not compared:
        return [], []
    checks: list[Checks] = []
    errors: list[str] = []
    for one in projects:
        apart = frozenset[Path]().union(*(other.checked.files for other in projects if other is not one))
        try:
            checks += _checks(analysis, one, dependencies, compared, apart - one.checked.files)
        except Exception as error:
            message = internal_error("comparing the loaders of the project", error, ())
            errors += [message] if message not in errors else []
    root = projects[0].project.root if len(projects) == 1 else top
    made_unsafe, halves = unsafe_beside_others(checks, fixed, root)
    for one in projects:
        one.told = without_safe_parts(one.told, made_unsafe)
    return halves, errors


def _checks(
    analysis: Analysis, one: _OfProject, dependencies: Dependencies, compared: frozenset[str], apart: Set[Path]
) -> Iterator[Checks]:
    """What is known of the places of a project, by the rules that are `compared`: in all its files but those `apart`,
    which another project of the check has as well.
    """
    from torchrepro_lint.rules.orders import whole_of

    if one.program is None:
        return
    project, settings = one.project, one.project.settings
    whole = whole_of(one.program, compared)
    found, every = list(one.checked.findings), list(one.told)
    dependencies.outside.setdefault(project.root, {}).update(one.program.outside)
    files = whole.files - apart
    others = in_order(files - one.checked.files)
    if others:
        beside = replace(analysis, named=frozenset(), codes=compared)
        commented = {path for path in others if may_silence(bytes_of(analysis, path))}
        more, _, second = check_project(beside, project, others, commented, set(others), lambda share, what: None)
        found += more.findings
        every += settled(more, settings, analysis.overlay, analysis.read)[0]
        if second is not None:
            dependencies.outside.setdefault(project.root, {}).update(second.outside)
            dependencies.looks.append(second.looks)
    # One beside a finding of its file that stays is left, too.
    by_default = without_safe_halves([each for each in every if not _is_left(each, settings)])
    every = [*by_default, *(each for each in every if _is_left(each, settings))]
    drawn = [each for each in whole.drawn if each.location.path not in apart]
    listed = [each for each in whole.listed if each.path not in apart]
    workers = [each for each in whole.workers if each.path not in apart]
    in_part = [each for each in whole.in_part if each[0].path not in apart]
    yield Checks(
        found, every, drawn, listed, workers, in_part, files, lambda each: _is_left(each, settings), whole.are_together
    )


def _each_once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those that another project has made as well, of a file that both contain: one that has a fix
    is kept, if there is one.
    """
    found: dict[tuple[str, Location, str], Finding] = {}
    for one in findings:
        other = found.setdefault((one.code, one.location, one.message), one)
        if other.fix is None and one.fix is not None:
            found[one.code, one.location, one.message] = one
    return list(found.values())


def _left_to_strict(findings: Sequence[Finding], projects: Projects) -> LeftToStrict:
    """The programs that these findings are left out for; those that only tests run are not counted. And the files that
    are no modules.
    """
    severe = [one for one in findings if is_severe_enough(one, projects.of(one.location.path).settings)]
    told = [one for one in severe if one.left_to_strict]
    programs = in_order({path for one in told for path in one.left_to_strict or ()})
    unread = in_order({one.location.path for one in severe if one.code == UNREADABLE_FILE.code})
    return LeftToStrict(tuple(programs), len(told), tuple(unread))
