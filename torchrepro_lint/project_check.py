"""One project of a check: the rules are run over it, and what they find is told apart by the file that it is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Finding, Location
from torchrepro_lint.housekeeping import UNREADABLE_FILE
from torchrepro_lint.interest import broken_cells
from torchrepro_lint.internal_errors import files_in_hand, internal_error
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.selection import RuleLike, is_ignored, is_left_to_strict, rules_of
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.left_over import has_no_torch, is_of_cells, only_defines
from torchrepro_lint.source.noqa import may_silence
from torchrepro_lint.source.project import Project
from torchrepro_lint.source.text import SourceError
from torchrepro_lint.suppression import Checked
from torchrepro_lint.toolkit import ProgramLike, Toolkit

__all__ = ["Analysis", "CacheChoice", "Progress", "RunOptions", "bytes_of", "check_project"]


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


@dataclass(frozen=True, slots=True)
class Analysis:
    """What all projects of one check share: where texts come from, what is run, and how; the files that somebody has
    named, and not the folder that they are in; the folders that were given; the codes of the rules that are run, None
    for all that are selected; and the findings that safe fixes have removed.
    """

    overlay: Mapping[Path, str]
    read: Read
    toolkit: Toolkit
    run: RunOptions
    only: Set[Path] | None
    named: Set[Path]
    folders: Set[Path] = frozenset()
    codes: Set[str] | None = None
    fixed: Sequence[Finding] = ()

    def wants(self, path: Path) -> bool:
        """Whether the findings of a file are wanted."""
        return self.only is None or path in self.only


def check_project(
    analysis: Analysis,
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
    commented = {*commented, *(path for path in given if may_silence(bytes_of(analysis, path)))}
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
    analysis: Analysis, program: ProgramLike, path: Path, where: tuple[int, int, str], files: Set[Path]
) -> Finding:
    """The finding for a file that cannot be read, by who relies on it: somebody has named it, one of the `files`
    imports it, or it is of a package for others, or does more than to define something, and that with torch, as a whole
    and not by cells, under a name that is not that of a copy (`train.bak.py`), and is no draft: what the project leaves
    out where it says of others that they are run, another version of a file beside it, and one of several scripts.
    """
    is_named, is_imported = path in analysis.named, program.is_imported(path, files)
    data = bytes_of(analysis, path)
    is_relied_on = is_named or is_imported or program.is_offered(path)
    is_left_over = only_defines(data) or has_no_torch(data) or is_of_cells(data) or "." in path.stem
    is_module = is_relied_on or not (is_left_over or program.is_draft(path))
    return UNREADABLE_FILE.finding(path, *where, is_named=is_named, is_imported=is_imported, is_module=is_module)


def bytes_of(analysis: Analysis, path: Path) -> bytes:
    return analysis.overlay[path].encode() if path in analysis.overlay else analysis.read(path)


def _goes_through(finding: Finding, files: Set[Path]) -> bool:
    return any(step.location.path in files for step in finding.trace)


def _unfixed(finding: Finding) -> Finding:
    """A finding in a file that is not checked: its fix would be made there."""
    if finding.fix is None:
        return finding
    declined = "this file is not one of those that are checked"
    return replace(finding, fix=None, fix_declined=declined)


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
