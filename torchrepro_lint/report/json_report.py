"""Findings as JSON, with the field names of ruff, so that what reads ruff's output reads ours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from torchrepro_lint.diagnostics import Edit, Finding, Location, Position
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.source.lines import LineTable

__all__ = ["as_json"]


def as_json(findings: Iterable[Finding], texts: Texts) -> str:
    """A list of objects, one for each finding. Rows and columns start at 1, `end_location` is exclusive.

    `noqa_row` is a row on which a `# noqa` comment can stand. `trace`, `name` and `fix_declined` (why a rule that has a
    fix gives none here) are ours.
    """
    return json.dumps([_object(finding, texts) for finding in findings], indent=2)


def _object(finding: Finding, texts: Texts) -> dict[str, Any]:
    row = finding.statement_rows[1] if finding.statement_rows else finding.location.start.row
    return {
        "cell": None,
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        **_place(finding.location),
        "fix": _fix(finding, texts),
        "fix_declined": finding.fix_declined,
        "noqa_row": row,
        "trace": [{**_place(step.location), "message": step.note} for step in finding.trace],
        "url": None,
    }


def _place(location: Location) -> dict[str, Any]:
    return {
        "filename": str(location.path),
        "location": _position(location.start),
        "end_location": _position(location.end),
    }


def _position(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _fix(finding: Finding, texts: Texts) -> dict[str, Any] | None:
    if finding.fix is None:
        return None
    tables = {path: LineTable(texts.text(path)) for path in {edit.path for edit in finding.fix.edits}}
    return {
        "applicability": finding.fix.applicability.value,
        "message": finding.fix.message,
        "edits": [_edit(edit, tables[edit.path]) for edit in finding.fix.edits],
    }


def _edit(edit: Edit, table: LineTable) -> dict[str, Any]:
    return {
        "content": edit.content,
        "location": _position(table.position(edit.start)),
        "end_location": _position(table.position(edit.end)),
        "filename": str(edit.path),
    }
