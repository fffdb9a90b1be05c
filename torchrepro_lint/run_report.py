"""The result of a check, and what baselines and the wanted severity leave of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.diagnostics import Finding, LeftToStrict
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.selection import is_severe_enough, runs
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.project import Projects
from torchrepro_lint.toolkit import Toolkit

if TYPE_CHECKING:
    from torchrepro_lint.baseline import Baseline

__all__ = ["Report", "baselines_of", "severe_enough", "without_known"]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check: the findings in order, the number of checked files, and internal errors.

    `elsewhere` are findings in other files whose proof goes through one of the checked ones: what these break there.
    They have no fix. `unsafe_allowed` are the files with findings whose project enables unsafe fixes. `notices` are
    remarks about files and folders that are not findings. `known` is the number of findings that a baseline has hidden,
    and `stale` the number of its records for these files that matched no finding. `left` is what the strict profile
    would report beside the findings, in programs that do not show that they want to repeat. `halves` are those of the
    findings that fixes have removed beside which another place of their kind is left, each with the reason. `untold`
    are findings that are left to the strict profile since no safe fix mends them: beside these, a fix may be a half.
    """

    findings: tuple[Finding, ...] = ()
    files_checked: int = 0
    errors: tuple[str, ...] = ()
    unsafe_allowed: frozenset[Path] = frozenset()
    notices: tuple[tuple[Path, str], ...] = ()
    known: int = 0
    stale: int = 0
    left: LeftToStrict = field(default_factory=LeftToStrict)
    elsewhere: tuple[Finding, ...] = ()
    halves: tuple[Finding, ...] = ()
    untold: tuple[Finding, ...] = ()

    @property
    def found(self) -> tuple[Finding, ...]:
        """What was found in the checked files, told or not."""
        return (*self.findings, *self.untold)

    @property
    def everything(self) -> tuple[Finding, ...]:
        """All findings, each at its own place, in order."""
        return tuple(sorted((*self.findings, *self.elsewhere), key=lambda one: one.sort_key))

    def may_fix(self, finding: Finding) -> bool:
        """Whether `--fix` fixes the finding, under the settings of its project."""
        return finding.is_fixed_safely or (finding.fix is not None and finding.location.path in self.unsafe_allowed)


def baselines_of(files: Iterable[Path], projects: Projects) -> list[tuple[Baseline, list[Path]]]:
    """The baselines of the projects, each with the files whose findings it may hide.

    TorchReproLintError if one does not exist or is not a baseline.
    """
    by_baseline: dict[Path, list[Path]] = {}
    for path in files:
        if (baseline := projects.of(path).settings.baseline) is not None:
            by_baseline.setdefault(baseline, []).append(path)
    if not by_baseline:
        return []
    from torchrepro_lint.baseline import read_baseline

    return [(read_baseline(path), in_order(group)) for path, group in sorted(by_baseline.items())]


def without_known(
    report: Report, baselines: list[tuple[Baseline, list[Path]]], projects: Projects, overlay: Mapping[Path, str],
    toolkit: Toolkit,
) -> Report:  # fmt: skip
    """The report less the findings that the baselines record."""
    if not baselines:
        return report
    texts = Texts(overlay)
    findings, stale = [*report.findings, *report.elsewhere], 0
    others = {one.location.path for one in report.elsewhere}
    for records, group in baselines:
        own = {*group, *(path for path in others if projects.of(path).settings.baseline == records.path)}
        unknown = set(map(id, records.unknown((one for one in findings if one.location.path in own), texts)))
        findings = [one for one in findings if one.location.path not in own or id(one) in unknown]
        stale += records.stale(group, runs(projects.of(group[0]).settings, toolkit.rules))
    known = len(report.findings) + len(report.elsewhere) - len(findings)
    return _with(report, findings, known, stale)


def _with(report: Report, findings: Sequence[Finding], known: int, stale: int) -> Report:
    """The report with some of its findings only."""
    kept = set(map(id, findings))
    own, elsewhere = (tuple(one for one in each if id(one) in kept) for each in (report.findings, report.elsewhere))
    return replace(report, findings=own, elsewhere=elsewhere, known=known, stale=stale)


def severe_enough(report: Report, projects: Projects) -> Report:
    """The report less the findings that are less severe than the settings of their project ask for."""
    every = (*report.findings, *report.elsewhere)
    severe = [one for one in every if is_severe_enough(one, projects.of(one.location.path).settings)]
    return _with(report, severe, report.known, report.stale)
