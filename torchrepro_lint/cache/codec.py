"""Findings as plain data, and back: to load it runs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torchrepro_lint.diagnostics import (
    Applicability,
    Edit,
    Finding,
    Fix,
    LeftToStrict,
    Location,
    Position,
    Severity,
    TraceStep,
)

__all__ = ["Stored", "decoded", "encoded"]

#: The findings, the notices on files beside them, and what is left to the strict profile.
Stored = tuple[tuple[Finding, ...], tuple[tuple[Path, str], ...], LeftToStrict]


def encoded(findings: Iterable[Finding], notices: Iterable[tuple[Path, str]], left: LeftToStrict) -> list[Any]:
    """All three as lists, texts and numbers."""
    return [
        [_finding(one) for one in findings],
        [[str(path), text] for path, text in notices],
        [[str(path) for path in left.programs], left.findings],
    ]


def decoded(data: Any) -> Stored:
    """What `encoded` made the data of. ValueError or TypeError where it made no such data."""
    findings, notices, (programs, count) = data
    return (
        tuple(map(_as_finding, findings)),
        tuple((Path(path), str(note)) for path, note in notices),
        LeftToStrict(tuple(map(Path, programs)), int(count)),
    )


def _finding(one: Finding) -> list[Any]:
    return [
        one.code,
        one.name,
        one.message,
        one.severity.value,
        _location(one.location),
        [[_location(step.location), step.note, step.depth] for step in one.trace],
        _fix(one.fix) if one.fix is not None else None,
        one.fix_declined,
        one.statement_rows,
        [str(path) for path in one.left_to_strict] if one.left_to_strict is not None else None,
    ]


def _location(one: Location) -> list[Any]:
    return [str(one.path), one.start.row, one.start.column, one.end.row, one.end.column]


def _fix(one: Fix) -> list[Any]:
    edits = [[str(edit.path), edit.start, edit.end, edit.content] for edit in one.edits]
    return [one.applicability.value, one.message, edits, sorted(map(str, one.after))]


def _as_finding(data: Any) -> Finding:
    code, name, message, severity, location, trace, fix, declined, rows, left = data
    return Finding(
        code,
        name,
        message,
        Severity(severity),
        _as_location(location),
        tuple(TraceStep(_as_location(place), note, depth) for place, note, depth in trace),
        _as_fix(fix) if fix is not None else None,
        declined,
        (int(rows[0]), int(rows[1])) if rows is not None else None,
        tuple(map(Path, left)) if left is not None else None,
    )


def _as_location(data: Any) -> Location:
    path, row, column, end_row, end_column = data
    return Location(Path(path), Position(int(row), int(column)), Position(int(end_row), int(end_column)))


def _as_fix(data: Any) -> Fix:
    applicability, message, edits, after = data
    return Fix(
        Applicability(applicability),
        message,
        tuple(Edit(Path(path), int(start), int(end), content) for path, start, end, content in edits),
        frozenset(map(Path, after)),
    )
