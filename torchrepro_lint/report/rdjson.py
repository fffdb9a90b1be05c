"""Findings as rdjson, the format of reviewdog: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf.

Its columns count the bytes of UTF-8 from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from torchrepro_lint.diagnostics import Edit, Finding, Location, Position
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.report.places import file_range, place
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.rule_pages import PROJECT, rule_url
from torchrepro_lint.report.texts import Texts

__all__ = ["rdjson_report"]


def rdjson_report(reported: ReportInput) -> Iterator[str]:
    """The document."""
    yield json.dumps(
        {
            "source": {"name": "torchrepro-lint", "url": PROJECT},
            "severity": "WARNING",
            "diagnostics": [_diagnostic(finding, reported.texts) for finding in reported.findings],
        },
        indent=2,
    )


def _diagnostic(finding: Finding, texts: Texts) -> dict[str, Any]:
    diagnostic: dict[str, Any] = {
        "message": place(finding.location, texts).before_message + finding.message,
        "location": _location(finding.location, texts),
        "severity": finding.severity.value.upper(),
        "code": _code(finding.code),
    }
    suggestions = list(_suggestions(finding, texts))
    if suggestions:
        diagnostic["suggestions"] = suggestions
    if finding.trace:
        diagnostic["relatedLocations"] = [
            {
                "message": place(step.location, texts).before_message + step.note,
                "location": _location(step.location, texts),
            }
            for step in finding.trace
        ]
    return diagnostic


def _code(code: str) -> dict[str, str]:
    url = rule_url(code)
    return {"value": code} if url is None else {"value": code, "url": url}


def _suggestions(finding: Finding, texts: Texts) -> Iterator[dict[str, Any]]:
    """The fix as one suggestion: reviewdog takes several as ways to choose from, and each may change one file only."""
    edits = finding.fix.edits if finding.fix is not None else ()
    path = finding.location.path
    if not edits or {edit.path for edit in edits} != {path} or texts.cells(path) is not None:
        return
    start, end = min(edit.start for edit in edits), max(edit.end for edit in edits)
    inside = [Edit(path, edit.start - start, edit.end - start, edit.content) for edit in edits]
    whole = Edit(path, start, end, apply_edits(texts.text(path)[start:end], inside))
    yield {"range": _range(texts.range(whole), texts), "text": whole.content}


def _location(location: Location, texts: Texts) -> dict[str, Any]:
    return {"path": texts.name(location.path), "range": _range(location, texts)}


def _range(location: Location, texts: Texts) -> dict[str, Any]:
    inside = file_range(location, texts)
    if inside.start_column is None:
        return {"start": {"line": inside.start_row}, "end": {"line": inside.end_row}}
    lines = [texts.line(location.path, position.row) for position in (location.start, location.end)]
    return {"start": _position(location.start, lines[0]), "end": _position(location.end, lines[1])}


def _position(position: Position, line: str) -> dict[str, int]:
    before = line[: position.column - 1].encode("utf-8", "replace")
    return {"line": position.row, "column": len(before) + 1}
