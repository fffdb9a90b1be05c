"""The output formats by name. Each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.settings.values import OutputFormat

__all__ = ["FORMATS", "OutputFormat", "has_statistics", "is_for_people", "says_notes", "written"]

FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)

_FOR_PEOPLE: tuple[OutputFormat, ...] = ("full", "concise", "grouped")


def is_for_people(name: OutputFormat) -> bool:
    """Whether sentences may stand beside what the format writes: a program that reads it would stumble over them."""
    return name in _FOR_PEOPLE


def has_statistics(name: OutputFormat) -> bool:
    """Whether numbers of findings can be printed in the format."""
    return name == "json" or is_for_people(name)


def says_notes(name: OutputFormat) -> bool:
    """Whether the format has a place for remarks on the whole run; others leave them to standard error."""
    return name in ("sarif", "github")


def written(name: OutputFormat, reported: ReportInput) -> Iterator[str]:
    """The lines of a report, without line feeds at their ends."""
    match name:
        case "full" | "concise" | "grouped" if reported.findings:
            from torchrepro_lint.report import text

            write = {"full": text.full_report, "concise": text.concise_report, "grouped": text.grouped_report}[name]
            yield from write(reported)
        case "json" | "json-lines":
            from torchrepro_lint.report import json_report

            yield from (json_report.json_report if name == "json" else json_report.json_lines_report)(reported)
        case "sarif":
            from torchrepro_lint.report.sarif import sarif_report

            yield from sarif_report(reported)
        case "github":
            from torchrepro_lint.report.github import github_report

            yield from github_report(reported)
        case "gitlab":
            from torchrepro_lint.report.gitlab import gitlab_report

            yield from gitlab_report(reported)
        case "junit":
            from torchrepro_lint.report.junit import junit_report

            yield from junit_report(reported)
        case "pylint":
            from torchrepro_lint.report.text import pylint_report

            yield from pylint_report(reported)
        case "rdjson":
            from torchrepro_lint.report.rdjson import rdjson_report

            yield from rdjson_report(reported)
