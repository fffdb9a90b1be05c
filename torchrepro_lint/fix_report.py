"""What fixing comes to: the files that change, and the findings that are gone, are left, or could not be fixed."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import Report
from torchrepro_lint.source.cells import is_notebook, split
from torchrepro_lint.source.text import Source, split_lines

__all__ = ["Change", "FixReport", "RejectedFix", "counts", "kind"]


@dataclass(frozen=True, slots=True)
class Change:
    """One changed file: as it was, and its new text."""

    source: Source
    text: str

    def diff(self, name: str) -> list[str]:
        """The lines of a unified diff under the given name, each with its line ending; for a notebook, one diff per
        cell.
        """
        if not is_notebook(self.source.path):
            return _unified(name, self.source.text, self.text)
        return [
            # The source of a cell has no line ending at its end, and should have none.
            line
            for old, new in zip(split(self.source.text), split(self.text), strict=True)
            for line in _unified(f"{name}:cell {old.number}", f"{old.source}\n", f"{new.source}\n")
        ]


def _unified(name: str, old: str, new: str) -> list[str]:
    lines = []
    for line in difflib.unified_diff(split_lines(old), split_lines(new), name, name):
        if line.endswith(("\n", "\r")):
            lines.append(line)
        else:
            lines.append(line + "\n\\ No newline at end of file\n")
    return lines


@dataclass(frozen=True, slots=True)
class RejectedFix:
    """The fix of `finding` was tried and rejected, for `reason` (one sentence)."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class FixReport:
    """The result of fixing: the report on the files afterwards, the changes, the findings that were removed, and the
    fixes that were tried and rejected; the findings of the latter say why in `fix_declined`. `changes` have been
    written unless the caller asked for none to be.
    """

    report: Report
    changes: tuple[Change, ...] = ()
    fixed: tuple[Finding, ...] = ()
    rejected: tuple[RejectedFix, ...] = ()


def kind(finding: Finding) -> tuple[str, Path]:
    """What findings are counted by."""
    return finding.code, finding.location.path


def counts(report: Report) -> Counter[tuple[str, Path]]:
    """How many findings of each rule are left in each file."""
    return Counter(kind(finding) for finding in report.found)
