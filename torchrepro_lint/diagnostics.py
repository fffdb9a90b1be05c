"""What the tool says: findings, the chain that proves them, and the edits that repair them.

This is the ground floor: it imports nothing of the package, and every other part may import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

__all__ = [
    "Applicability",
    "Edit",
    "Finding",
    "Fix",
    "Location",
    "Position",
    "Severity",
    "TorchReproLintError",
    "TraceStep",
]


class TorchReproLintError(Exception):
    """A problem that the user can act upon. Its text is one line, and is printed as it is."""


class Severity(str, Enum):
    """How bad a finding is. `ERROR`: wrong under any goal. `WARNING`: not controlled, or fragile."""

    ERROR = "error"
    WARNING = "warning"


class Applicability(str, Enum):
    """Whether a fix may be applied without a look. `UNSAFE` fixes need `--unsafe-fixes`."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: `row` and `column` both start at 1; columns count characters, not bytes."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A range of one file. `end` is exclusive, as in ruff's JSON."""

    path: Path
    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One link of the chain that proves a finding: a place, and a few words on what happens there.

    `depth` is how far in it stands where chains part, in steps; None for one step further than the link before it.
    """

    location: Location
    note: str
    depth: int | None = None


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters `start` to `end` (offsets into the decoded text, `end` exclusive) by `content`.

    An insertion has `start == end`. Offsets count the characters of the file as it stands on disk after
    decoding: line endings are what they are there, and a byte order mark is not counted.
    """

    path: Path
    start: int
    end: int
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits, over one file or more, that repair a finding.

    `after`: files from which a function can be imported that the fix would define again. Where such a file is given
    the function by another fix, this one waits, and then imports it.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    after: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, proven.

    `statement_rows` are the first and the last row of the logical line on which the finding stands: a `# noqa`
    on any of them counts. `fix_declined` says in a few words why a rule that has a fix gives none here.
    """

    code: str
    name: str
    message: str
    severity: Severity
    location: Location
    trace: tuple[TraceStep, ...] = ()
    fix: Fix | None = None
    fix_declined: str | None = None
    statement_rows: tuple[int, int] | None = None

    @property
    def sort_key(self) -> tuple[str, Position, str, str]:
        """Order of report: by file, by place, by code."""
        return (str(self.location.path), self.location.start, self.code, self.message)
