"""One attempt to fix: the texts with some fixes applied, checked in memory, or why these fixes are rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.diagnostics import Finding, Fix, TorchReproLintError
from torchrepro_lint.engine import Report, RunOptions, check
from torchrepro_lint.fix_report import RejectedFix
from torchrepro_lint.fixes.apply import apply_edits, merge_edits
from torchrepro_lint.settings import SettingsOverride
from torchrepro_lint.source.cells import is_notebook, python_text, why_not_written
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.text import Source, read_source, split_lines
from torchrepro_lint.toolkit import Toolkit

__all__ = ["Attempts", "Chosen", "counts", "kind"]

# A finding, and its fix.
Chosen: TypeAlias = tuple[Finding, Fix]
# A rule by its code, and a file.
Kind: TypeAlias = tuple[str, Path]


@dataclass(slots=True)
class Attempts:
    """The texts that fixes are tried on, and what came of it so far.

    `only` is the one file that may change; None if any may. `sources` are the files as they were read, `overlay` the
    texts of those that are replaced or have changed. `rejected` are fixes that were tried and did no good, by what does
    not change when other fixes are applied. `checks` counts the checks.
    """

    paths: Sequence[Path]
    override: SettingsOverride
    toolkit: Toolkit
    projects: Projects
    run: RunOptions
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
            run=replace(
                self.run,
                progress=lambda share, what: self.run.progress(1 - left + share * left / 2, f"{note}{what}"),
            ),
        )

    def applicable(self, report: Report) -> list[Chosen]:
        """The findings that may be fixed and whose fix was not rejected, with their fixes."""
        return [
            (finding, finding.fix)
            for finding in report.findings
            if finding.fix is not None and report.may_fix(finding) and self.key(finding) not in self.rejected
            if self.only is None or all(edit.path == self.only for edit in finding.fix.edits)
        ]

    def text(self, path: Path) -> str:
        """The text of a file as it is now, after the fixes that were accepted."""
        if path in self.overlay:
            return self.overlay[path]
        if path not in self.sources:
            self.sources[path] = read_source(path)
        return self.sources[path].text

    def key(self, finding: Finding) -> tuple[object, ...]:
        """What does not change of a finding and its fix when other fixes move it."""
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

    def attempt(self, report: Report, chosen: Sequence[Chosen]) -> tuple[dict[Path, str], Report] | str:
        """The texts and the report after the chosen fixes, or why they are rejected.

        Each of their findings must be gone, and a new finding must be one that the next round can fix.
        """
        texts = self.applied(fix for _, fix in chosen)
        if isinstance(texts, str):
            return texts
        after = self.check(texts)
        if len(after.errors) > len(report.errors):
            return "the result cannot be checked"
        before_count, after_count = counts(report), counts(after)
        fixed = Counter(kind(finding) for finding, _ in chosen)
        if any(after_count[one] > before_count[one] - number for one, number in fixed.items()):
            return "the finding would stay"
        for finding in after.findings:
            one = kind(finding)
            if after_count[one] > before_count[one] and not after.may_fix(finding):
                return f"it would lead to {finding.code}"
        return texts, after


def kind(finding: Finding) -> Kind:
    """What findings are counted by."""
    return finding.code, finding.location.path


def counts(report: Report) -> Counter[Kind]:
    """How many findings of each rule are left in each file."""
    return Counter(kind(finding) for finding in report.findings)
