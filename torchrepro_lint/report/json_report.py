"""Findings as JSON, with the field names of ruff, so that what reads ruff's output reads ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from torchrepro_lint.diagnostics import Edit, Finding, Location, Position
from torchrepro_lint.report.next_steps import next_step
from torchrepro_lint.report.places import place
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.rule_pages import rule_url
from torchrepro_lint.report.texts import Texts

__all__ = ["json_lines_report", "json_report"]


def json_report(reported: ReportInput) -> Iterator[str]:
    """A list of objects, one for each finding. Rows and columns start at 1, `end_location` is exclusive. In a notebook
    they count in the cell `cell`, which is null elsewhere.

    `noqa_row` is a row on which a `# noqa` comment can stand. Not in ruff: `action` says what to do, `trace` proves the
    finding, and `fix_declined` says why a rule that has a fix gives none here; `name` is the rule's.
    """
    yield json.dumps([_object(finding, reported) for finding in reported.findings], indent=2)


def json_lines_report(reported: ReportInput) -> Iterator[str]:
    """The same objects, one on a line."""
    for finding in reported.findings:
        yield json.dumps(_object(finding, reported), separators=(",", ":"))


def _object(finding: Finding, reported: ReportInput) -> dict[str, Any]:
    path, texts = finding.location.path, reported.texts
    row = finding.statement_rows[1] if finding.statement_rows else finding.location.start.row
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        **_place(finding.location, texts),
        "action": next_step(finding, reported.may_fix, texts, profile=reported.profile),
        "fix": _fix(finding, texts),
        "fix_declined": finding.fix_declined,
        "noqa_row": place(Location(path, Position(row, 1), Position(row, 1)), texts).start.row,
        "trace": [{**_place(step.location, texts), "message": step.note} for step in finding.trace],
        "url": rule_url(finding.code),
    }


def _place(location: Location, texts: Texts) -> dict[str, Any]:
    at = place(location, texts)
    return {
        "cell": at.cell,
        "filename": str(location.path),
        "location": _position(at.start),
        "end_location": _position(at.end),
    }


def _position(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _fix(finding: Finding, texts: Texts) -> dict[str, Any] | None:
    if finding.fix is None:
        return None
    return {
        "applicability": finding.fix.applicability.value,
        "message": finding.fix.message,
        "unsafe_because": finding.fix.unsafe_because,
        "edits": [_edit(edit, texts) for edit in finding.fix.edits],
    }


def _edit(edit: Edit, texts: Texts) -> dict[str, Any]:
    location, content = texts.edit(edit)
    return {"content": content, **_place(location, texts)}
