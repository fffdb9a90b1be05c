"""Fixing files: fixes are applied in rounds, each round is checked again in memory, and only what holds is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.diagnostics import Finding, Fix, TorchReproLintError
from torchrepro_lint.engine import CacheChoice, Progress, Report, check
from torchrepro_lint.fix_report import Change, FixReport, RejectedFix
from torchrepro_lint.fixes.apply import apply_edits, merge_edits, select_compatible
from torchrepro_lint.settings import Settings, SettingsOverride
from torchrepro_lint.source.cells import is_notebook, python_text, why_not_written
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import Source, read_bytes, read_source, split_lines
from torchrepro_lint.source.write import write_atomically
from torchrepro_lint.toolkit import ProgramLike, Toolkit

if TYPE_CHECKING:
    from torchrepro_lint.program.kept.programs import KeptPrograms

__all__ = ["fix"]

# A fix may give another rule its chance: `cudnn.benchmark` is seen once something seeds. Chains longer than this are
# two rules that undo each other.
MAX_ROUNDS = 10


_Chosen: TypeAlias = tuple[Finding, Fix]


@dataclass(frozen=True, slots=True)
class _Accepted:
    """Fixes that can be applied together, with the texts and the report that result."""

    fixes: Sequence[_Chosen] = ()
    result: tuple[dict[Path, str], Report] | None = None


def _toolkit_that_keeps_programs() -> Toolkit:
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


@dataclass(slots=True)
class _Loop:
    """What all rounds share, and what they have come to.

    `only` is the one file that may change; None if any may. `sources` are the files as they were read, `overlay` the
    texts of those that are replaced or have changed. `rejected` are fixes that were tried and did no good, by what does
    not change when other fixes are applied. `checks` counts the checks.
    """

    paths: Sequence[Path]
    override: SettingsOverride
    toolkit: Toolkit
    projects: Projects
    jobs: int
    progress: Progress
    cache: CacheChoice | None
    only: Path | None
    sources: dict[Path, Source]
    overlay: dict[Path, str]
    rejected: dict[tuple[object, ...], RejectedFix] = field(default_factory=dict)
    checks: int = 0

    def check(self, overlay: Mapping[Path, str]) -> Report:
        """The report on the texts. The number of checks is not known in advance, so each takes half of what is left of
        the progress bar.
        """
        left = 0.5**self.checks
        note = "with the fixes: " if self.checks else ""
        self.checks += 1
        return check(
            self.paths,
            self.override,
            overlay=overlay,
            projects=self.projects,
            toolkit=self.toolkit,
            jobs=self.jobs,
            cache=self.cache,
            progress=lambda share, what: self.progress(1 - left + share * left / 2, f"{note}{what}"),
        )

    def applicable(self, report: Report) -> list[tuple[Finding, Fix]]:
        """The findings that may be fixed and whose fix was not rejected, with their fixes."""
        return [
            (finding, finding.fix)
            for finding in report.findings
            if finding.fix is not None and report.may_fix(finding) and self.key(finding) not in self.rejected
            if self.only is None or all(edit.path == self.only for edit in finding.fix.edits)
        ]

    def text(self, path: Path) -> str:
        if path in self.overlay:
            return self.overlay[path]
        if path not in self.sources:
            self.sources[path] = read_source(path)
        return self.sources[path].text

    def key(self, finding: Finding) -> tuple[object, ...]:
        lines = split_lines(self.text(finding.location.path))
        row = finding.location.start.row
        line = lines[row - 1].strip() if row <= len(lines) else ""
        edits = tuple(edit.content for edit in finding.fix.edits) if finding.fix else ()
        return (finding.code, finding.location.path, line, edits)

    def rejected_in(self, report: Report) -> tuple[RejectedFix, ...]:
        """The fixes that were rejected, except those whose findings other fixes have removed."""
        left = {self.key(finding) for finding in report.findings if finding.fix is not None} if self.rejected else set()
        return tuple(rejected for key, rejected in self.rejected.items() if key in left)

    def with_reasons(self, report: Report) -> Report:
        """The report, with the reason added to the findings whose fix was rejected."""
        if not self.rejected:
            return report
        return replace(report, findings=tuple(self._declined(finding) for finding in report.findings))

    def _declined(self, finding: Finding) -> Finding:
        rejected = self.rejected.get(self.key(finding)) if finding.fix is not None else None
        return finding if rejected is None else replace(finding, fix=None, fix_declined=rejected.reason)

    def applied(self, fixes: Iterable[Fix]) -> dict[Path, str] | str:
        """The texts with the fixes applied, or why they cannot be applied."""
        from torchrepro_lint.fixes.verified import verify_edit

        texts = dict(self.overlay)
        for path, edits in merge_edits(fixes).items():
            try:
                old = self.text(path)
                if path in self.sources and not self.sources[path].survives:
                    return f"{path.name} does not survive decoding and encoding"
                texts[path] = apply_edits(old, edits)
                self.sources[path].encode(texts[path])
            except (ValueError, TorchReproLintError) as error:
                return str(error)
            new = texts[path]
            refusal = why_not_written(path, old, new) or verify_edit(
                python_text(path, old), python_text(path, new), edits, awaits=is_notebook(path)
            )
            if refusal is not None:
                return refusal
        return texts

    def attempt(self, report: Report, chosen: Sequence[tuple[Finding, Fix]]) -> tuple[dict[Path, str], Report] | str:
        """The texts and the report after the chosen fixes, or why they are rejected.

        Each of their findings must be gone, and a new finding must be one that the next round can fix.
        """
        texts = self.applied(fix for _, fix in chosen)
        if isinstance(texts, str):
            return texts
        after = self.check(texts)
        if len(after.errors) > len(report.errors):
            return "the result cannot be checked"
        before_count, after_count = _counts(report), _counts(after)
        fixed = Counter(_kind(finding) for finding, _ in chosen)
        if any(after_count[kind] > before_count[kind] - number for kind, number in fixed.items()):
            return "the finding would stay"
        for finding in after.findings:
            kind = _kind(finding)
            if after_count[kind] > before_count[kind] and not after.may_fix(finding):
                return f"it would lead to {finding.code}"
        return texts, after


def _tidied(loop: _Loop, report: Report) -> Report:
    """The report after removing the imports that fixes have made unused."""
    from torchrepro_lint.fixes.document import Document
    from torchrepro_lint.fixes.unused_imports import newly_unused_imports
    from torchrepro_lint.fixes.verified import verify_edit

    texts = dict(loop.overlay)
    for path, text in loop.overlay.items():
        old = loop.sources[path].text
        if text != old and not is_notebook(path):
            edits = newly_unused_imports(Document(path, old), Document(path, text))
            tidy = apply_edits(text, edits)
            texts[path] = tidy if edits and verify_edit(text, tidy, edits) is None else text
    if texts == loop.overlay:
        return report
    after = loop.check(texts)
    if len(after.errors) > len(report.errors) or _counts(after) != _counts(report):
        return report
    loop.overlay = texts
    return after


def fix(
    paths: Iterable[Path],
    override: SettingsOverride | None = None,
    *,
    write: bool = True,
    given: Source | None = None,
    overlay: Mapping[Path, str] | None = None,
    toolkit: Toolkit | None = None,
    jobs: int = 1,
    cache: CacheChoice | None = None,
    progress: Progress = lambda share, what: None,
) -> FixReport:
    """Fix what can be fixed in `paths`, until nothing changes any more.

    A fix is kept if the result parses and compiles, its finding is gone, and it causes no finding that cannot be fixed
    in turn. Nothing is written unless fewer findings are left than before. The result is the same for any number of
    processes and any order of `paths`.

    Args:
        paths: Files and folders.
        override: Settings that take precedence over those of the project.
        write: Write the result to the disk. Errors are in the report.
        given: A file that replaces the one on the disk. No other file is changed then.
        overlay: Texts, by absolute path, that replace those on the disk; they cannot be written.
        toolkit: The rules to run, and what makes the program that they query.
        jobs: How many processes may be used.
        cache: Where to look up the findings in the files as they are on the disk, and to store them. If nothing can be
            fixed, nothing is analysed again.
        progress: Called as the work proceeds.
    """
    if overlay and write:
        raise ValueError("texts that are not on the disk cannot be fixed there")
    sources = [
        Source(path, text.encode("utf-8", "replace"), "utf-8", False, text) for path, text in (overlay or {}).items()
    ]
    if given is not None:
        sources.append(given)
    start = {source.path: source.text for source in sources}
    loop = _Loop(
        paths=list(paths),
        override=override or {},
        toolkit=toolkit or _toolkit_that_keeps_programs(),
        projects=Projects(override or {}),
        jobs=jobs,
        progress=progress,
        cache=cache,
        only=given.path if given is not None else None,
        sources={source.path: source for source in sources},
        overlay=start,
    )
    first = loop.check(start)
    report = _after_rounds(loop, first)
    if len(report.findings) >= len(first.findings):
        loop.overlay = start
        return FixReport(loop.with_reasons(first), rejected=loop.rejected_in(first))
    return _finished(loop, first, _tidied(loop, report), write=write)


def _after_rounds(loop: _Loop, first: Report) -> Report:
    """The report after all rounds, whose texts are those of `loop` then. `first` is that on the files as they were."""
    report = first
    for _ in range(MAX_ROUNDS):
        open_findings = loop.applicable(report)
        if not open_findings:
            break
        compatible = {id(one) for one in select_compatible([one for _, one in open_findings])}
        chosen = [(finding, one) for finding, one in open_findings if id(one) in compatible]
        accepted = _extended(loop, report, _Accepted(), chosen)
        if accepted.result is not None:
            loop.overlay, report = accepted.result
    return report


def _finished(loop: _Loop, first: Report, last: Report, *, write: bool) -> FixReport:
    """Write what has changed, and say what came of it."""
    rejected = loop.rejected_in(last)
    report = loop.with_reasons(last)
    changes = tuple(
        Change(loop.sources[path], text)
        for path, text in sorted(loop.overlay.items())
        if text != loop.sources[path].text
    )
    refusals = {change.source.path: message for change in changes if write and (message := _write(change)) is not None}
    if refusals:
        # A fix in a file that was written may have needed the one that was not: what is left is what the disk holds.
        loop.overlay = {path: text for path, text in loop.overlay.items() if path not in refusals}
        changes = tuple(change for change in changes if change.source.path not in refusals)
        report = loop.with_reasons(loop.check({}))
    report = replace(report, errors=(*report.errors, *refusals.values()), notices=first.notices)
    return FixReport(report, changes, _removed(first, report), rejected)


def _extended(
    loop: _Loop, report: Report, accepted: _Accepted, more: Sequence[_Chosen], *, fails: bool = False
) -> _Accepted:  # fmt: skip
    """`accepted` with those fixes of `more` that can be added to it; the others are noted as tried and rejected.

    One attempt adds any number of fixes. If it fails, each half of them is tried, so a bad fix among many is found in a
    few attempts. With `fails` it is already known that they cannot be applied together.
    """
    if not more:
        return accepted
    if not fails:
        result = loop.attempt(report, [*accepted.fixes, *more])
        if not isinstance(result, str):
            return _Accepted([*accepted.fixes, *more], result)
        if len(more) == 1:
            loop.rejected[loop.key(more[0][0])] = RejectedFix(more[0][0], result)
            return accepted
    middle = len(more) // 2
    first = _extended(loop, report, accepted, more[:middle])
    # Where all of the first half went in, the whole is what has failed just now, and the fault is in the second.
    whole = len(first.fixes) == len(accepted.fixes) + middle
    return _extended(loop, report, first, more[middle:], fails=whole and len(more) - middle > 1)


def _kind(finding: Finding) -> tuple[str, Path]:
    return finding.code, finding.location.path


def _counts(report: Report) -> Counter[tuple[str, Path]]:
    return Counter(_kind(finding) for finding in report.findings)


def _removed(first: Report, last: Report) -> tuple[Finding, ...]:
    """The findings of `first` that are gone in `last`; of equal ones, as many as have disappeared."""
    left = _counts(last)
    removed = []
    for finding in first.findings:
        if left[_kind(finding)] > 0:
            left[_kind(finding)] -= 1
        else:
            removed.append(finding)
    return tuple(removed)


def _write(change: Change) -> str | None:
    try:
        write_atomically(change.source.path, change.source.encode(change.text), change.source.data)
    except TorchReproLintError as error:
        return str(error)
    return None
