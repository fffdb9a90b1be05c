"""Findings that copies of a notebook repeat: a folder may hold a notebook in several variants, with the same cells."""

from __future__ import annotations

from collections.abc import Iterable

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.texts import Texts

__all__ = ["without_repeated"]


def without_repeated(findings: Iterable[Finding], texts: Texts) -> list[Finding]:
    """The findings, less those that stand on the same line of the same cell in an earlier notebook."""
    first: dict[tuple[str, str, str, int], object] = {}
    kept = []
    for finding in findings:
        key = _key(finding, texts)
        if key is None or first.setdefault(key, finding.location.path) == finding.location.path:
            kept.append(finding)
    return kept


def _key(finding: Finding, texts: Texts) -> tuple[str, str, str, int] | None:
    """What a finding has in common with those of other notebooks; None outside of notebooks."""
    path, row = finding.location.path, finding.location.start.row
    cells = texts.cells(path)
    if cells is None:
        return None
    start, end = cells.span(row)
    cell = "\n".join(texts.lines(path)[start - 1 : end]).strip()
    return finding.code, finding.message, cell, cells.row_in_cell(row)
