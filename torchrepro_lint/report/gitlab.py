"""Findings as a report of GitLab's Code Quality: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.report.fingerprints import fingerprints
from torchrepro_lint.report.places import file_range, in_checkout, place
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.texts import Texts

__all__ = ["gitlab_report"]

_SEVERITY = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def gitlab_report(reported: ReportInput) -> Iterator[str]:
    """A list of objects."""
    texts = reported.texts
    issues = [_issue(finding, number, texts) for finding, number in fingerprints(reported.findings, texts)]
    yield json.dumps(issues, indent=2)


def _issue(finding: Finding, fingerprint: str, texts: Texts) -> dict[str, Any]:
    at, inside = place(finding.location, texts), file_range(finding.location, texts)
    begin, end = {"line": inside.start_row}, {"line": inside.end_row}
    if inside.start_column is not None and inside.end_column is not None:
        begin["column"], end["column"] = inside.start_column, inside.end_column
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {at.before_message}{finding.message}",
        "fingerprint": fingerprint,
        "severity": _SEVERITY[finding.severity],
        "location": {
            "path": in_checkout(finding.location.path, texts, "CI_PROJECT_DIR"),
            "positions": {"begin": begin, "end": end},
        },
    }
