"""From paths to findings. No other module knows the order of the steps."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.cache.dependencies import Dependencies
from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Finding, LeftToStrict, Location
from torchrepro_lint.halves import without_safe_halves
from torchrepro_lint.housekeeping import UNREADABLE_FILE
from torchrepro_lint.interest import broken_cells, is_any_wanted, of_interest
from torchrepro_lint.internal_errors import files_in_hand, internal_error
from torchrepro_lint.left_elsewhere import Checks, compared_with, without_safe_parts
from torchrepro_lint.regular_files import collected_notices
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.run_report import Report, baselines_of, severe_enough, without_known
from torchrepro_lint.selection import (
    RuleLike,
    is_ignored,
    is_left_to_strict,
    is_severe_enough,
    require_known_rules,
    rules_of,
)
from torchrepro_lint.settings import SettingsOverride
from torchrepro_lint.source.contents import Contents, Read
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.left_over import has_no_torch, only_defines
from torchrepro_lint.source.noqa import may_silence
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.root import absolute
from torchrepro_lint.source.text import SourceError, without_surrogates
from torchrepro_lint.suppression import Checked, merged, settled
from torchrepro_lint.toolkit import ProgramLike, Toolkit

if TYPE_CHECKING:
    from torchrepro_lint.cache.run import CachedRun

__all__ = ["CacheChoice", "Progress", "Report", "RunOptions", "check"]


#: Called as a check proceeds, with the share that is done (0 to 1) and what is being done.
Progress: TypeAlias = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class CacheChoice:
    """Where results are cached: in `folder`, or without it where the settings of the first project say, or else in its
    root. The settings may turn the cache off.

    `wait` is for processes that are started together and make the same check: one of them makes it, while the others
    wait for its result, so many seconds at most.
    """

    folder: Path | None = None
    wait: float = 0


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to go about a check, which changes nothing of what it finds.

    `jobs` is how many processes may be used. `cache` is where to look up the result of an equal run, and to store that
    of this one; None for nowhere. `progress` is called as the check proceeds.
    """

    jobs: int = 1
    cache: CacheChoice | None = None
    progress: Progress = lambda share, what: None


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
        cached, report = None, None
        if not (overlay or suppressed_too) and toolkit.is_own:
            cached = _cached_run(requested, named, projects, override, contents, run.cache)
            report = _stored(cached, requested, projects, to_edit=to_edit)
        if report is None:
            if override.keys() & _OF_RULES:
                # A misspelt rule is said, whatever the files.
                require_known_rules(override, toolkit.rules())
            analysis = _Analysis(overlay, contents, toolkit, run, only, named)
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
    projects: Projects,
    override: SettingsOverride,
    contents: Contents,
    choice: CacheChoice | None,
) -> CachedRun | None:
    """This run as the cache knows it; None without a cache, or where there is nothing to look at."""
    if choice is None or not is_any_wanted(files, contents):
        return None
    from torchrepro_lint.cache.run import CachedRun

    how = repr((sorted(override.items()), "all" if named == files else sorted(map(str, named))))
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
    own = tuple(one for one in findings if one.location.path in files)
    elsewhere = tuple(one for one in findings if one.location.path not in files)
    return Report(own, len(files), (), unsafe, notices, left=left, elsewhere=elsewhere)


def _made(
    analysis: _Analysis, requested: Set[Path], projects: Projects, cached: CachedRun | None, *, suppressed_too: bool
) -> Report:
    """The report, made by the rules and kept in the cache."""
    with _without_collection():
        report, dependencies = _report(analysis, requested, projects, suppressed_too=suppressed_too)
    if cached is not None and not report.errors:
        cached.save(report.everything, report.notices, report.left, dependencies)
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


@dataclass(frozen=True, slots=True)
class _Analysis:
    """What all projects of one check share: where texts come from, what is run, and how; the files that somebody has
    named, and not the folder that they are in; and the codes of the rules that are run, None for all that are selected.
    """

    overlay: Mapping[Path, str]
    read: Read
    toolkit: Toolkit
    run: RunOptions
    only: Set[Path] | None
    named: Set[Path]
    codes: Set[str] | None = None

    def wants(self, path: Path) -> bool:
        """Whether the findings of a file are wanted."""
        return self.only is None or path in self.only


def _report(
    analysis: _Analysis, requested: Set[Path], projects: Projects, *, suppressed_too: bool
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
    dependencies = Dependencies()
    groups = sorted(candidates.groups.items(), key=lambda group: (group[0].root, str(group[0].also)))
    for number, (project, files) in enumerate(groups):
        if not any(map(analysis.wants, files)):
            continue
        part = _part_of(analysis.run.progress, number, len(groups))
        commented = {path for path in candidates.commented.intersection(files) if analysis.wants(path)}
        checked, failed, program = _check_project(analysis, project, files, commented, requested, part)
        if suppressed_too:
            own, others = merged(checked.findings), merged(checked.elsewhere)
        else:
            own, others = settled(checked, project.settings, overlay, read)
        if program is not None:
            dependencies.outside.setdefault(project.root, {}).update(program.outside)
            dependencies.looks.append(program.looks)
            is_whole = analysis.toolkit.is_own and analysis.only is None and not suppressed_too
            if compared := compared_with(own) if is_whole else frozenset():
                own, failures = _beside_what_is_left(analysis, project, checked, own, program, dependencies, compared)
                failed += failures
        for finding in own:
            (left if is_left_to_strict(finding, project.settings) else findings).append(finding)
        elsewhere += [one for one in others if not is_left_to_strict(one, project.settings)]
        errors += failed
        unsafe.update(files if project.settings.unsafe_fixes else ())
    report = Report(
        tuple(sorted(without_safe_halves(merged(_each_once(findings))), key=lambda one: one.sort_key)),
        len(requested),
        tuple(errors),
        frozenset(unsafe),
        tuple(candidates.notices),
        left=_left_to_strict(left, projects),
        elsewhere=tuple(sorted(_each_once(elsewhere), key=lambda one: one.sort_key)),
    )
    return report, dependencies


def _beside_what_is_left(
    analysis: _Analysis,
    project: Project,
    checked: Checked,
    told: Sequence[Finding],
    program: ProgramLike,
    dependencies: Dependencies,
    compared: frozenset[str],
) -> tuple[list[Finding], list[str]]:
    """The findings of a project, where a fix is unsafe beside a place that is left in any of its files, whichever are
    asked about, by the rules that are `compared`; and a message where that could not be told.
    """
    from torchrepro_lint.rules.orders import whole_of

    try:
        whole = whole_of(program, compared)
    except Exception as error:
        return list(told), [internal_error("comparing the loaders of the project", error, ())]
    found, every, settings = list(checked.findings), list(told), project.settings
    dependencies.outside.setdefault(project.root, {}).update(program.outside)
    others = in_order(whole.files - checked.files)
    if others:
        beside = replace(analysis, named=frozenset(), codes=compared)
        commented = {path for path in others if may_silence(_bytes_of(analysis, path))}
        more, _, second = _check_project(beside, project, others, commented, set(others), lambda share, what: None)
        found += more.findings
        every += settled(more, settings, analysis.overlay, analysis.read)[0]
        if second is not None:
            dependencies.outside.setdefault(project.root, {}).update(second.outside)
            dependencies.looks.append(second.looks)
    # One beside a finding of its file that stays is left, too.
    by_default = without_safe_halves([one for one in every if not is_left_to_strict(one, settings)])
    every = [*by_default, *(one for one in every if is_left_to_strict(one, settings))]
    checks = Checks(found, every, whole.drawn, whole.files, lambda one: is_left_to_strict(one, settings))
    return without_safe_parts(told, checks, project.root), []


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


def _check_project(
    analysis: _Analysis,
    project: Project,
    files: Sequence[Path],
    commented: Set[Path],
    requested: Set[Path],
    progress: Progress,
) -> tuple[Checked, list[str], ProgramLike | None]:
    """The findings of the rules in `files`, a message for each rule that failed, and the program that was queried. A
    rule that fails does not keep the others from running.

    What others of the files `requested` contribute to a finding may be where it is reported: a module that only asks
    the clock for a number.
    """
    from torchrepro_lint.facts.readable import Readers

    rules = [
        one
        for one in rules_of(project, analysis.toolkit.rules())
        if analysis.codes is None or one.code in analysis.codes
    ]
    overlay, read = analysis.overlay, analysis.read
    everything = project.program_of(files, lambda path: overlay[path].encode() if path in overlay else read(path))
    own = {path: overlay[path] for path in everything if path in overlay}
    files = [path for path in files if analysis.wants(path)]
    wanted = frozenset(files)
    try:
        program = analysis.toolkit.make_program(
            project.root, everything, project.settings, project.target, own, read=analysis.read,
            asked=wanted if wanted != set(everything) else None,
        )  # fmt: skip
    except Exception as error:
        return Checked((), frozenset(), (), ()), [internal_error("reading the project", error, everything)], None
    readers = Readers([path for path in files if path not in analysis.overlay], analysis.run.jobs)
    try:
        while True:
            try:
                found, ran, errors = _findings(rules, program, everything, progress)
                break
            except SourceError as refused:
                # Python reads the file and libcst does not: nothing in it can be placed or fixed.
                program = program.without(refused)
        progress(1.0, "the files that no rule has looked at")
        # Not every rule looks at every file, and what is asked about must be readable.
        unread = [*readers.doubtful(program.has_read), *(path for path in files if path in analysis.overlay)]
    finally:
        readers.close()
    for path in unread:
        try:
            program.facts(path)
        except Exception as error:
            errors.append(internal_error(f"reading {path}", error, [path]))
    given = {one.location.path for one in found} & (set(filter(analysis.wants, everything)) & requested) - wanted
    wanted |= given
    commented = {*commented, *(path for path in given if may_silence(_bytes_of(analysis, path)))}
    elsewhere = [_unfixed(one) for one in found if one.location.path not in wanted and _goes_through(one, wanted)]
    found = [finding for finding in found if finding.location.path in wanted]
    broken = [
        _unreadable(analysis, program, path, where, frozenset(files))
        for path, where in list(program.unreadable.items())
        if path in wanted and not is_ignored(UNREADABLE_FILE, path, project.settings)
    ]
    readable = set(files).difference(program.unreadable)
    broken += broken_cells(readable, project, analysis.overlay, analysis.read, analysis.named)
    broken = [one if is_left_to_strict(one, project.settings) else replace(one, left_to_strict=None) for one in broken]
    return (
        Checked(
            (*found, *broken), frozenset(commented), tuple(ran), tuple(analysis.toolkit.rules()), elsewhere, wanted
        ),
        errors,
        program,
    )


def _unreadable(
    analysis: _Analysis, program: ProgramLike, path: Path, where: tuple[int, int, str], files: Set[Path]
) -> Finding:
    """The finding for a file that cannot be read, by who relies on it: somebody has named it, one of the `files`
    imports it, or it is of a package for others, or does more than to define something, and that with torch.
    """
    is_named, is_imported = path in analysis.named, program.is_imported(path, files)
    data = _bytes_of(analysis, path)
    is_relied_on = is_named or is_imported or program.is_offered(path)
    is_module = is_relied_on or not (only_defines(data) or has_no_torch(data))
    return UNREADABLE_FILE.finding(path, *where, is_named=is_named, is_imported=is_imported, is_module=is_module)


def _bytes_of(analysis: _Analysis, path: Path) -> bytes:
    return analysis.overlay[path].encode() if path in analysis.overlay else analysis.read(path)


def _goes_through(finding: Finding, files: Set[Path]) -> bool:
    return any(step.location.path in files for step in finding.trace)


def _unfixed(finding: Finding) -> Finding:
    """A finding in a file that is not checked: its fix would be made there."""
    if finding.fix is None:
        return finding
    return replace(finding, fix=None, fix_declined="this file is not one of those that are checked")


def _findings(
    rules: Sequence[RuleLike], program: ProgramLike, files: Sequence[Path], progress: Progress
) -> tuple[list[Finding], list[RuleMetadata], list[str]]:
    """The findings, each once; the rules that ran to the end; a message for each rule that failed.

    SourceError for a file that turns out to be unreadable when a finding in it is located.
    """
    found: dict[tuple[str, Location, str], Finding] = {}
    ran: list[RuleMetadata] = [UNREADABLE_FILE]
    errors: list[str] = []
    for number, rule in enumerate(rules):
        said = (number / len(rules), f"{counted(len(files), 'file')}: {rule.name}")
        progress(*said)
        program.begin_rule()
        failed = False
        while True:
            try:
                for finding in rule.check(program):
                    progress(*said)
                    found.setdefault((finding.code, finding.location, finding.message), finding)
                    program.begin_place()
                break
            except Exception as error:
                if isinstance(error, SourceError) and error.path not in program.unreadable:
                    raise
                failed = True
                message = internal_error(f"{rule.code} {rule.name}", error, files)
                errors += [message] if message not in errors else []
                # One place costs that place: the rule is run once more for all others.
                if not program.give_up(files_in_hand(error, files)):
                    break
        if not failed:
            ran.append(rule)
    return list(found.values()), ran, errors
