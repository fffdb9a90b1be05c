"""Findings as commands of GitHub Actions, which show them beside the code of a pull request.

The form is that of https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.places import file_range, in_checkout, place
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.texts import Texts

__all__ = ["github_report"]


def github_report(reported: ReportInput) -> Iterator[str]:
    """A line for each finding, and for what is to be said of the run."""
    for finding in reported.findings:
        yield _command(finding, reported.texts)
    for error in reported.errors:
        yield f"::error title=torchrepro-lint::{_data(error)}"
    if reported.note is not None:
        yield f"::notice title=torchrepro-lint::{_data(reported.note)}"


def _command(finding: Finding, texts: Texts) -> str:
    at = place(finding.location, texts)
    inside = file_range(finding.location, texts)
    properties = {
        "title": f"torchrepro-lint ({finding.code})",
        "file": in_checkout(finding.location.path, texts, "GITHUB_WORKSPACE"),
        "line": inside.start_row,
        "col": inside.start_column,
        "endLine": inside.end_row,
        "endColumn": inside.end_column,
    }
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    lines = [f"{at.text}: {finding.code} {finding.message}"]
    lines += [f"  {place(step.location, texts).text}: {step.note}" for step in finding.trace]
    return f"::{finding.severity.value} {listed}::{_data(chr(10).join(lines))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
