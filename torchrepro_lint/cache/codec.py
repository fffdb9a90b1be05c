"""Findings as plain data, and back: to load it runs nothing."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, replace
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
        [[str(path) for path in left.programs], left.findings, [str(path) for path in left.unread]],
    ]


def decoded(data: Any, files: Container[Path], roots: Collection[Path]) -> Stored:
    """What `encoded` made the data of.

    ValueError, TypeError or IndexError where it made no such data, where a finding or an edit is in none of the `files`
    of the run, or where another path leads out of the `roots` of its projects.
    """
    findings, notices, (programs, count, unread) = data
    reader = _Reader(files, roots)
    return (
        tuple(map(reader.finding, findings)),
        tuple((reader.path(path), _text(note)) for path, note in notices),
        LeftToStrict(tuple(map(reader.path, programs)), _number(count), tuple(map(reader.path, unread))),
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
        one.strict_because,
        one.repeats,
    ]


def _location(one: Location) -> list[Any]:
    return [str(one.path), one.start.row, one.start.column, one.end.row, one.end.column]


def _fix(one: Fix) -> list[Any]:
    edits = [[str(edit.path), edit.start, edit.end, edit.content] for edit in one.edits]
    return [one.applicability.value, one.message, edits, sorted(map(str, one.after)), one.unsafe_because]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Makes findings of plain data. ValueError or TypeError where they are none of this run."""

    files: Container[Path]
    roots: Collection[Path]

    def finding(self, data: Any) -> Finding:
        code, name, message, severity, location, trace, fix, declined, rows, left, because, repeats = data
        return Finding(
            _text(code),
            _text(name),
            _text(message),
            Severity(severity),
            replace(self.location(location), path=self.file(location[0])),
            tuple(
                TraceStep(self.location(place), _text(note), _number(depth) if depth is not None else None)
                for place, note, depth in trace
            ),
            self.fix(fix) if fix is not None else None,
            _text(declined) if declined is not None else None,
            (_row(rows[0]), _row(rows[1])) if rows is not None else None,
            tuple(map(self.path, left)) if left is not None else None,
            _text(because),
            _flag(repeats),
        )

    def location(self, data: Any) -> Location:
        path, row, column, end_row, end_column = data
        return Location(self.path(path), Position(_row(row), _row(column)), Position(_row(end_row), _row(end_column)))

    def fix(self, data: Any) -> Fix:
        applicability, message, edits, after, because = data
        made = [Edit(self.file(path), _number(start), _number(end), _text(new)) for path, start, end, new in edits]
        files = frozenset(map(self.path, after))
        why = _text(because) if because is not None else None
        return Fix(Applicability(applicability), _text(message), tuple(made), files, why)

    def file(self, data: Any) -> Path:
        """A file of the run."""
        path = Path(_text(data))
        if path not in self.files:
            raise ValueError(f"{path} is no file of the run")
        return path

    def path(self, data: Any) -> Path:
        """A path in one of the projects, be it there or not."""
        path = Path(_text(data))
        if path in self.files:
            return path
        if ".." in path.parts or not any(path.is_relative_to(root) for root in self.roots):
            raise ValueError(f"{path} lies in no project of the run")
        return path


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError("no text")
    return data


def _flag(data: Any) -> bool:
    if not isinstance(data, bool):
        raise TypeError("neither true nor false")
    return data


def _number(data: Any) -> int:
    """A count or an offset."""
    if not isinstance(data, int) or isinstance(data, bool):
        raise TypeError("no number")
    if data < 0:
        raise ValueError("less than nothing")
    return data


def _row(data: Any) -> int:
    """A row or a column: they start at 1."""
    if _number(data) < 1:
        raise ValueError("before the beginning")
    return int(data)
