"""Findings as SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.

The chain that proves a finding is its code flow, its fix a proposed change, and the fingerprint stays when lines
above it come and go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from torchrepro_lint import __version__
from torchrepro_lint.diagnostics import Edit, Finding, Fix, Location, Severity
from torchrepro_lint.fixes.apply import in_order
from torchrepro_lint.report.fingerprints import fingerprints
from torchrepro_lint.report.places import file_range, place
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.rule_pages import DOCUMENTATION, documentation, markdown, rule_url, title
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.rule_metadata import RuleMetadata

__all__ = ["sarif_report"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# Code scanning of GitHub and Azure take this name for the top of the repository.
_BASE = "%SRCROOT%"
_FINGERPRINT = "context/v1"


def sarif_report(reported: ReportInput) -> Iterator[str]:
    """The document. Paths are relative to the current folder where they lie below it."""
    rules = reported.rules()
    index = {rule.code: number for number, rule in enumerate(rules)}
    texts = reported.texts
    run = {
        "tool": {
            "driver": {
                "name": "torchrepro-lint",
                "version": __version__,
                "semanticVersion": __version__,
                "informationUri": DOCUMENTATION,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"uri": texts.folder.as_uri().rstrip("/") + "/"}},
        "invocations": [_invocation(reported.errors, reported.note)],
        "results": [_result(one, number, index, texts) for one, number in fingerprints(reported.findings, texts)],
    }
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: RuleMetadata) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": title(rule)},
        "fullDescription": {"text": f"{title(rule)}."},
        "help": {"text": documentation(rule), "markdown": markdown(rule)},
        "defaultConfiguration": {"enabled": rule.profile == "default", "level": _level(rule.severity)},
        "properties": {"tags": ["reproducibility"]},
    }
    url = rule_url(rule.code)
    return described if url is None else {**described, "helpUri": url}


def _invocation(errors: Sequence[str], note: str | None) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": not errors}
    said = [*(("error", one) for one in errors), *((("note", note),) if note is not None else ())]
    if said:
        invocation["toolExecutionNotifications"] = [{"level": level, "message": {"text": text}} for level, text in said]
    return invocation


def _result(finding: Finding, fingerprint: str, index: dict[str, int], texts: Texts) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _level(finding.severity),
        "message": {"text": finding.message},
        "locations": [_location(finding.location, texts)],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }
    if finding.code in index:
        result["ruleIndex"] = index[finding.code]
    if finding.trace:
        steps = [{"location": _location(step.location, texts, step.note)} for step in finding.trace]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    # A fix of a notebook says what becomes of its code, and these regions are of its JSON.
    if finding.fix is not None and all(texts.cells(edit.path) is None for edit in finding.fix.edits):
        result["fixes"] = [_fix(finding.fix, texts)]
    return result


def _fix(fix: Fix, texts: Texts) -> dict[str, Any]:
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path, texts),
                "replacements": [_replacement(edit, texts) for edit in group],
            }
            for path, group in groupby(in_order(fix.edits), key=lambda edit: edit.path)
        ],
        "properties": {"applicability": fix.applicability.value},
    }


def _replacement(edit: Edit, texts: Texts) -> dict[str, Any]:
    return {"deletedRegion": _region(texts.range(edit), texts), "insertedContent": {"text": edit.content}}


def _location(location: Location, texts: Texts, note: str | None = None) -> dict[str, Any]:
    place_of: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(location.path, texts),
            "region": _region(location, texts),
        }
    }
    at = place(location, texts)
    if at.cell is not None:
        place_of["logicalLocations"] = [{"name": at.within, "fullyQualifiedName": at.text}]
    return place_of if note is None else {**place_of, "message": {"text": note}}


def _artifact(path: Path, texts: Texts) -> dict[str, Any]:
    uri = path.as_uri()
    base = texts.folder.as_uri().rstrip("/") + "/"
    # Cut from the address and not from the path: names are quoted there as an address needs it.
    return {"uri": uri[len(base) :], "uriBaseId": _BASE} if uri.startswith(base) else {"uri": uri}


def _region(location: Location, texts: Texts) -> dict[str, int]:
    inside = file_range(location, texts)
    region = {"startLine": inside.start_row, "endLine": inside.end_row}
    if inside.start_column is not None and inside.end_column is not None:
        region.update(startColumn=inside.start_column, endColumn=inside.end_column)
    return region


def _level(severity: Severity) -> str:
    return "error" if severity is Severity.ERROR else "warning"
