"""From paths to findings: the only place that knows the order of the steps."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from torchrepro_lint.cache.asked import Asked
from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Applicability, Finding, Location
from torchrepro_lint.housekeeping import HOUSEKEEPING, UNREADABLE_FILE
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.selection import RuleLike, is_ignored, rules_of, runs, selected_rules
from torchrepro_lint.settings import Settings, SettingsOverride
from torchrepro_lint.source.contents import Contents, Read
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.noqa import may_silence
from torchrepro_lint.source.prefilter import is_wanted
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import SourceError, decode, read_bytes
from torchrepro_lint.suppression import Checked, settled

if TYPE_CHECKING:
    from torchrepro_lint.program.looks import Looks

__all__ = ["ProgramFactory", "ProgramLike", "Report", "Told", "Toolkit", "check"]


class ProgramLike(Protocol):
    """What the engine asks of a program."""

    @property
    def unreadable(self) -> Mapping[Path, tuple[int, int, str]]:
        """Row, column and reason for each file that something looked at and could not be parsed."""
        ...

    def facts(self, path: Path) -> object:
        """What a file says: a look at it."""
        ...

    def has_read(self, path: Path) -> bool:
        """Whether something has looked at the file."""
        ...

    @property
    def outside(self) -> Mapping[str, bool | str]:
        """The variables for which files that are no Python were searched, and whether one names them."""
        ...

    @property
    def looks(self) -> Looks | None:
        """What was asked of the texts; None where more than them has made the program what it is."""
        ...

    def without(self, refused: SourceError) -> ProgramLike:
        """The program as it is when one of its files cannot be read, which was found out late."""
        ...


class ProgramFactory(Protocol):
    """Makes the program of a project. `overlay` holds texts that count instead of those on the disk, of which `read`
    gives the bytes. `asked` are the files whose findings somebody waits for, None where it is all of them.
    """

    def __call__(
        self, root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str],
        *, read: Read = read_bytes, asked: frozenset[Path] | None = None,
    ) -> ProgramLike: ...  # fmt: skip


# Both are imported when a file needs them: they bring the parser, which takes longer to load than to say "clean".
def _own_rules() -> Iterable[RuleLike]:
    from torchrepro_lint.rules import all_rules
    from torchrepro_lint.third_party import third_party_rules

    return (*all_rules(), *third_party_rules())


def _own_program(
    root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str],
    *, read: Read = read_bytes, asked: frozenset[Path] | None = None,
) -> ProgramLike:  # fmt: skip
    from torchrepro_lint.program.program import Program

    return Program(root, files, settings, target, overlay=overlay, asked=asked, read=read)


@dataclass(frozen=True, slots=True)
class Toolkit:
    """What the engine runs: the rules, and what makes the program that they are asked about."""

    rules: Callable[[], Iterable[RuleLike]] = _own_rules
    make_program: ProgramFactory = _own_program

    def all_rules(self) -> list[RuleMetadata]:
        """All rules, those that the engine applies itself among them, in the order of their codes."""
        return sorted([*self.rules(), *HOUSEKEEPING], key=lambda rule: rule.code)


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
    contents = Contents()
    kept = None
    own = toolkit is None or toolkit.rules is _own_rules
    if cache is not None and own and not (overlay or suppressed_too) and _is_any_wanted(requested, contents):
        from torchrepro_lint.cache.run import CachedRun

        kept = CachedRun(requested, projects, cache.folder, repr(sorted((override or {}).items())), contents)
        stored = kept.load()
        if stored is not None:
            unsafe = frozenset(path for path in requested if projects.of(path).settings.unsafe_fixes)
            report = Report(stored[0], len(requested), (), unsafe, stored[1])
            return _without_known(report, requested, projects, overlay, toolkit or Toolkit())
    toolkit = toolkit or Toolkit()
    if override and override.keys() & _OF_RULES:
        selected_rules(toolkit.rules(), Settings().overridden(override))  # a misspelt rule is said, whatever the files
    with _without_collection():
        report, asked = _report(requested, projects, overlay, contents, suppressed_too, toolkit, jobs, told)
    if kept is not None and not report.errors:
        kept.save(report.findings, report.notices, asked)
    return report if suppressed_too else _without_known(report, requested, projects, overlay, toolkit)


def _is_any_wanted(requested: Iterable[Path], read: Read) -> bool:
    """Whether a file is to be looked at: where none is, to say so takes less than to look it up."""
    try:
        return any(is_wanted(read(path)) for path in requested)
    except SourceError:
        return True


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
    candidates = _of_interest(in_order(requested), projects, overlay, read)
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


def _without_known(
    report: Report, files: Iterable[Path], projects: Projects, overlay: Mapping[Path, str], toolkit: Toolkit
) -> Report:
    """The report less the findings that the baselines of the projects record."""
    by_baseline: dict[Path, list[Path]] = {}
    for path in files:
        if (baseline := projects.of(path).settings.baseline) is not None:
            by_baseline.setdefault(baseline, []).append(path)
    if not by_baseline:
        return report
    from torchrepro_lint.baseline import read_baseline

    texts = Texts(overlay)
    findings, stale = list(report.findings), 0
    for path, group in sorted((path, in_order(group)) for path, group in by_baseline.items()):
        records, own = read_baseline(path), set(group)
        unknown = set(map(id, records.unknown((one for one in findings if one.location.path in own), texts)))
        findings = [one for one in findings if one.location.path not in own or id(one) in unknown]
        stale += records.stale(group, runs(projects.of(group[0]).settings, toolkit.rules))
    known = len(report.findings) - len(findings)
    return replace(report, findings=tuple(findings), known=known, stale=stale)


@dataclass(slots=True)
class _Candidates:
    """The files that may hold a finding, by project, which of them may have comments that silence, findings for the
    files that cannot be read, and what is to be said of a file beside its findings.
    """

    groups: dict[Project, list[Path]] = field(default_factory=dict)
    commented: set[Path] = field(default_factory=set)
    broken: list[Finding] = field(default_factory=list)
    notices: list[tuple[Path, str]] = field(default_factory=list)


def _of_interest(requested: Sequence[Path], projects: Projects, overlay: Mapping[Path, str], read: Read) -> _Candidates:
    candidates = _Candidates()
    for path in requested:
        try:
            data = overlay[path].encode("utf-8", "replace") if path in overlay else read(path)
            wanted = is_wanted(data)
            if wanted and path not in overlay:
                source = decode(path, data)
                wanted = is_wanted(source.searched)
                if wanted and source.notice is not None:
                    candidates.notices.append((path, source.notice))
        except SourceError as error:
            if not is_ignored(UNREADABLE_FILE, path, projects.of(path).settings):
                candidates.broken.append(UNREADABLE_FILE.finding(path, error.row, error.column, error.reason))
            continue
        if wanted:
            candidates.groups.setdefault(projects.of(path), []).append(path)
            if may_silence(data):
                candidates.commented.add(path)
    return candidates


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
        return Checked((), frozenset(), (), ()), [_internal_error("reading the project", error, everything)], None
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
            errors.append(_internal_error(f"reading {path}", error, [path]))
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
            errors.append(_internal_error(f"{rule.code} {rule.name}", error, files))
    return list(found.values()), ran, errors


def _internal_error(what: str, error: Exception, files: Sequence[Path]) -> str:
    """One line on a fault of the tool: which part, in which file of the user, where in our code."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "torchrepro_lint" in frame.filename] or frames
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    text = " ".join(str(error).split())
    file = _file_in_hand(error, set(files))
    where = f" in {file}" if file is not None and str(file) not in what else ""
    return f"internal error: {what}{where}: {type(error).__name__}: {text}{place}; please report it"


def _file_in_hand(error: Exception, files: set[Path]) -> Path | None:
    """The user's file that the failing code was at, as far as its local variables tell."""
    import traceback

    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            for path in _paths_of(value):
                if path in files:
                    return path
    return None


def _paths_of(value: object) -> Iterator[Path]:
    """The file that a value is, or stands in; of several values, the first one's."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, Path):
        yield value
    for place in ("path", "facts.path", "site.path", "frame.facts.path"):
        with suppress(Exception):  # it has none, or is an object whose making has just failed
            found = attrgetter(place)(value)
            if isinstance(found, Path):
                yield found
