"""Findings that copies of a notebook or a script repeat: a folder may hold several variants, with the same lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.texts import Texts

__all__ = ["without_repeated"]

#: How many lines above and below a finding are the same in copies of a script.
_AROUND: Final = 8


def without_repeated(findings: Iterable[Finding], texts: Texts) -> list[Finding]:
    """The findings, less those that stand on the same line of the same cell in an earlier notebook, or between the same
    lines in an earlier file.
    """
    first: dict[tuple[str, str, str, int], object] = {}
    kept = []
    for finding in findings:
        key = _key(finding, texts)
        if key is None or first.setdefault(key, finding.location.path) == finding.location.path:
            kept.append(finding)
    return kept


def _key(finding: Finding, texts: Texts) -> tuple[str, str, str, int] | None:
    """What a finding has in common with those of other files; None where that cannot be told from the lines around."""
    path, row = finding.location.path, finding.location.start.row
    lines = texts.lines(path)
    cells = texts.cells(path)
    if cells is None:
        first, last = row - _AROUND, row + _AROUND
        around = "\n".join(lines[first - 1 : last]).strip() if first > 0 else ""
        return (finding.code, finding.message, around, 0) if around and last <= len(lines) else None
    start, end = cells.span(row)
    cell = "\n".join(lines[start - 1 : end]).strip()
    return finding.code, finding.message, cell, cells.row_in_cell(row)
