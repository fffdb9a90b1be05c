"""Findings as JUnit XML, which nearly every CI server reads: a suite for each file, a failed test for each finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree

from torchrepro_lint.console import printable
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.places import file_range, place
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.texts import Texts

__all__ = ["junit_report"]

_PACKAGE = "torchrepro-lint"


def junit_report(reported: ReportInput) -> Iterator[str]:
    """The document. Without findings it has one test, which passed: servers take an empty report for a broken run."""
    root = ElementTree.Element("testsuites", name=_PACKAGE, tests="0", failures="0", errors="0")
    tests = failures = 0
    for path, group in groupby(reported.findings, key=lambda finding: finding.location.path):
        findings = list(group)
        suite = _suite(root, reported.texts.name(path), len(findings), failures=len(findings))
        for finding in findings:
            _failure(suite, finding, reported.texts)
        tests += len(findings)
        failures += len(findings)
    if reported.errors:
        suite = _suite(root, _PACKAGE, len(reported.errors), errors=len(reported.errors))
        for error in reported.errors:
            case = ElementTree.SubElement(suite, "testcase", name="internal error", classname=_PACKAGE)
            ElementTree.SubElement(case, "error", message=printable(error))
        tests += len(reported.errors)
    if not tests:
        tests = 1
        suite = _suite(root, _PACKAGE, 1)
        ElementTree.SubElement(suite, "testcase", name="No findings", classname=_PACKAGE)
    root.attrib.update(tests=str(tests), failures=str(failures), errors=str(len(reported.errors)))
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield ElementTree.tostring(root, encoding="unicode")


def _suite(root: ElementTree.Element, name: str, tests: int, failures: int = 0, errors: int = 0) -> ElementTree.Element:
    suite = ElementTree.SubElement(root, "testsuite", name=name, package=_PACKAGE, disabled="0")
    suite.attrib.update(tests=str(tests), failures=str(failures), errors=str(errors))
    return suite


def _failure(suite: ElementTree.Element, finding: Finding, texts: Texts) -> None:
    at, inside = place(finding.location, texts), file_range(finding.location, texts)
    case = ElementTree.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name} ({at.within})",
        classname=at.name,
        file=at.name,
        line=str(inside.start_row),
    )
    if inside.start_column is not None:
        case.set("column", str(inside.start_column))
    kind = finding.severity.value
    failure = ElementTree.SubElement(case, "failure", message=printable(finding.message), type=kind)
    steps = [f"{place(step.location, texts).text}: {printable(step.note)}" for step in finding.trace]
    failure.text = "\n".join([f"{at.text}: {finding.code} {printable(finding.message)}", *steps])
