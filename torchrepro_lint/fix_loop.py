"""Fixing files: fixes are applied in rounds, each of which is an attempt that is checked, and what holds is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.diagnostics import Finding, TorchReproLintError
from torchrepro_lint.engine import Report, RunOptions
from torchrepro_lint.fix_attempts import Attempts, Chosen, Rejection, why_refused
from torchrepro_lint.fix_report import Change, FixReport, RejectedFix, counts, kind
from torchrepro_lint.fixes.apply import apply_edits, select_compatible
from torchrepro_lint.settings import Settings, SettingsOverride
from torchrepro_lint.source.cells import python_text
from torchrepro_lint.source.contents import Contents, Read
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import Source, read_bytes, without_surrogates
from torchrepro_lint.source.write import alone_in, refuse_if_changed, write_atomically
from torchrepro_lint.toolkit import ProgramLike, Toolkit

if TYPE_CHECKING:
    from torchrepro_lint.program.kept.programs import KeptPrograms

__all__ = ["fix", "tidied", "toolkit_that_keeps_programs", "write_changes"]

# A fix may give another rule its chance: `cudnn.benchmark` is seen once something seeds. Where so many rounds leave no
# fewer findings than before, two rules undo each other.
MAX_IDLE_ROUNDS = 10
# The loaders of one list get their generators one in a round, and each round costs a check.
MAX_ROUNDS = 30
# How often the rounds begin again without the fixes of what has a copy that could not be fixed.
MAX_STARTS = 3


def fix(
    paths: Iterable[Path],
    override: SettingsOverride | None = None,
    *,
    write: bool = True,
    given: Source | None = None,
    overlay: Mapping[Path, str] | None = None,
    toolkit: Toolkit | None = None,
    run: RunOptions | None = None,
    through_links: bool = False,
) -> FixReport:
    """Fix what can be fixed in `paths`, until nothing changes any more.

    A fix is kept if the result parses and compiles, its finding is gone, and it causes no finding that cannot be fixed
    in turn; in the statements that it touches, none of any rule, also of those that are off. Nothing is written unless
    fewer findings are left than before. The result is the same for any number of processes and any order of `paths`.

    Args:
        paths: Files and folders.
        override: Settings that take precedence over those of the project.
        write: Write the result to the disk. Errors are in the report.
        given: A file that replaces the one on the disk. No other file is changed then.
        overlay: Texts, by absolute path, that replace those on the disk; they cannot be written.
        toolkit: The rules to run, and what makes the program that they query.
        run: How to go about it. The cache is for the findings in the files as they are on the disk: if nothing can be
            fixed, nothing is analysed again.
        through_links: Also write files outside of the project that links in it lead to.
    """
    if overlay and write:
        raise ValueError("texts that are not on the disk cannot be fixed there")
    texts = {path: without_surrogates(text) for path, text in (overlay or {}).items()}
    sources = [Source(path, text.encode(), "utf-8", False, text) for path, text in texts.items()]
    if given is not None:
        sources.append(given)
    start = {source.path: source.text for source in sources}
    attempts = Attempts(
        paths=list(paths),
        override=override or {},
        toolkit=toolkit or toolkit_that_keeps_programs(),
        projects=Projects(override or {}),
        run=run or RunOptions(),
        only=given.path if given is not None else None,
        sources={source.path: source for source in sources},
        overlay=start,
        through_links=through_links,
        given=frozenset(start),
    )
    first = attempts.check(start)
    report = _alike(attempts, first, start)
    # Of a loader of which one finding is gone, another may speak that was silent beside it.
    if not _removed(first, report) or len(report.findings) > len(first.findings):
        attempts.overlay = start
        return FixReport(attempts.with_reasons(first), rejected=attempts.rejected_in(first))
    return _finished(attempts, first, tidied(attempts, report), write=write)


def _alike(attempts: Attempts, first: Report, start: dict[Path, str]) -> Report:
    """The report after all rounds. They begin again without a fix beside which a place of its kind is left in the end;
    and where the fix of a finding was tried and rejected, without that of a copy of its code.
    """
    report = _after_rounds(attempts, first)
    for _ in range(MAX_STARTS):
        has_halves = attempts.reject_halves(report)
        after, attempts.overlay = attempts.overlay, start
        is_unlike = bool(attempts.rejected) and attempts.reject_unlike_twins(first)
        if not (has_halves or is_unlike):
            attempts.overlay = after
            break
        report = _after_rounds(attempts, first)
    return report


def toolkit_that_keeps_programs() -> Toolkit:
    """The tool's own rules, with programs that are kept between rounds, since few files change in each."""

    @cache
    def programs() -> KeptPrograms:
        from torchrepro_lint.program.kept.programs import KeptPrograms

        return KeptPrograms(exact=True)

    def make(
        root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str],
        *, read: Read = read_bytes, asked: frozenset[Path] | None = None,
    ) -> ProgramLike:  # fmt: skip
        # When there is something to look at: most files have nothing to fix.
        return programs()(root, files, settings, target, overlay, read=read, asked=asked)

    return Toolkit(make_program=make)


@dataclass(frozen=True, slots=True)
class _Accepted:
    """Fixes that can be applied together, with the texts and the report that result."""

    fixes: Sequence[Chosen] = ()
    result: tuple[dict[Path, str], Report] | None = None


def _after_rounds(attempts: Attempts, first: Report) -> Report:
    """The report after all rounds, on the texts that `attempts` has then. `first` is that on the files as they were."""
    report, fewest, idle = first, len(first.findings), 0
    attempts.accepted.clear()
    for _ in range(MAX_ROUNDS):
        open_findings = attempts.applicable(report)
        if not open_findings or idle == MAX_IDLE_ROUNDS:
            break
        compatible = {id(one) for one in select_compatible([one for _, one in open_findings])}
        chosen = [(finding, one) for finding, one in open_findings if id(one) in compatible]
        accepted = _extended(attempts, report, _Accepted(), chosen)
        if accepted.result is not None:
            attempts.accepted.update((attempts.key(finding), finding) for finding, _ in accepted.fixes)
            attempts.overlay, report = accepted.result
        idle = 0 if len(report.findings) < fewest else idle + 1
        fewest = min(fewest, len(report.findings))
    return report


def _extended(
    attempts: Attempts, report: Report, accepted: _Accepted, more: Sequence[Chosen], rejection: Rejection | None = None
) -> _Accepted:
    """`accepted` with those fixes of `more` that can be added to it; the others are noted as tried and rejected.

    One attempt adds any number of fixes. If it fails, those that it cannot be due to are tried without the others, and
    of these each half, so a bad fix among many is found in a few attempts. With a `rejection` it is already known that
    they cannot be applied together.
    """
    if not more:
        return accepted
    if rejection is None:
        result = attempts.attempt(report, [*accepted.fixes, *more])
        if not isinstance(result, Rejection):
            return _Accepted([*accepted.fixes, *more], result)
        rejection = result
    if len(more) == 1:
        attempts.rejected[attempts.key(more[0][0])] = RejectedFix(more[0][0], rejection.reason)
        return accepted
    first, second = _parts(more, rejection)
    extended = _extended(attempts, report, accepted, first)
    # Where all of the first part went in, the whole is what has failed just now, and the fault is in the second.
    whole = len(extended.fixes) == len(accepted.fixes) + len(first)
    return _extended(attempts, report, extended, second, replace(rejection, suspects=second) if whole else None)


def _parts(fixes: Sequence[Chosen], rejection: Rejection) -> tuple[Sequence[Chosen], Sequence[Chosen]]:
    """Two parts of fixes that cannot be applied together: the second are the suspects, or half of them if all are."""
    suspected = {id(finding) for finding, _ in rejection.suspects}
    others = [one for one in fixes if id(one[0]) not in suspected]
    suspects = [one for one in fixes if id(one[0]) in suspected]
    if others and suspects:
        return others, suspects
    middle = len(fixes) // 2
    return fixes[:middle], fixes[middle:]


def tidied(attempts: Attempts, report: Report) -> Report:
    """The report after removing the imports that fixes have made unused, from the texts that `attempts` has."""
    from torchrepro_lint.fixes.document import Document
    from torchrepro_lint.fixes.unused_imports import newly_unused_imports

    texts = dict(attempts.overlay)
    for path, text in attempts.overlay.items():
        old = attempts.sources[path].text
        if text != old:
            before, after = Document(path, python_text(path, old)), Document(path, python_text(path, text))
            edits = newly_unused_imports(before, after, partial(attempts.others, path))
            tidy = apply_edits(text, edits)
            texts[path] = tidy if edits and why_refused(path, text, tidy, edits) is None else text
    if texts == attempts.overlay:
        return report
    tidied = attempts.check(texts)
    if len(tidied.errors) > len(report.errors) or counts(tidied) != counts(report):
        return report
    attempts.overlay = texts
    return tidied


def _finished(attempts: Attempts, first: Report, last: Report, *, write: bool) -> FixReport:
    """Write what has changed, and say what came of it."""
    rejected = attempts.rejected_in(last)
    report = attempts.with_reasons(last)
    changes = tuple(
        Change(attempts.sources[path], text)
        for path, text in sorted(attempts.overlay.items())
        if text != attempts.sources[path].text
    )
    refusals = write_changes(attempts, changes) if write else {}
    if refusals:
        # What is left is what the disk holds.
        attempts.overlay = {path: text for path, text in attempts.overlay.items() if path not in refusals}
        changes = tuple(change for change in changes if change.source.path not in refusals)
        attempts.contents = Contents()
        report = attempts.with_reasons(attempts.check({}))
    report = replace(report, errors=(*report.errors, *refusals.values()), notices=first.notices)
    return FixReport(report, changes, _removed(first, report), rejected)


def _removed(first: Report, last: Report) -> tuple[Finding, ...]:
    """The findings of `first` that are gone in `last`; of equal ones, as many as have disappeared."""
    left = counts(last)
    left.subtract(map(kind, first.untold))
    removed = []
    for finding in first.findings:
        if left[kind(finding)] > 0:
            left[kind(finding)] -= 1
        else:
            removed.append(finding)
    return tuple(removed)


def write_changes(attempts: Attempts, changes: Sequence[Change]) -> dict[Path, str]:
    """Write the changes, and give the files that were not written, each with what is to be said of it: one that was
    saved meanwhile, and others of the same fixes.
    """
    with alone_in({attempts.projects.of(change.source.path).root for change in changes}):
        refusals = {change.source.path: message for change in changes if (message := _changed(change)) is not None}
        with_it = {other: path for path in sorted(refusals, reverse=True) for other in attempts.written_with(path)}
        for change in changes:
            path = change.source.path
            if path in refusals:
                continue
            if path in with_it:
                refusals[path] = f"{path}: not written: {with_it[path]}, of the same fixes, has changed"
            elif (message := _write(change)) is not None:
                refusals[path] = message
    return refusals


def _changed(change: Change) -> str | None:
    try:
        refuse_if_changed(change.source.path, change.source.data)
    except TorchReproLintError as error:
        return str(error)
    return None


def _write(change: Change) -> str | None:
    try:
        write_atomically(change.source.path, change.source.encode(change.text), change.source.data)
    except TorchReproLintError as error:
        return str(error)
    return None
