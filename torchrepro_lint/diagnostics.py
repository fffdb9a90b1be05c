"""What the tool reports: findings, the chain that proves them, and the edits that fix them.

This module imports nothing from the package, and every other part may import it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

__all__ = [
    "Applicability",
    "Edit",
    "Finding",
    "Fix",
    "LeftToStrict",
    "Location",
    "Position",
    "Severity",
    "TorchReproLintError",
    "TraceStep",
]


class TorchReproLintError(Exception):
    """A problem that the user can solve. The text is a single line and is printed as it is."""


class Severity(str, Enum):
    """How serious a finding is. `ERROR`: wrong whatever the goal is. `WARNING`: not controlled, or fragile."""

    ERROR = "error"
    WARNING = "warning"


class Applicability(str, Enum):
    """Whether a fix may be applied without review. `UNSAFE` fixes need `--unsafe-fixes`."""

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
    """One link of the chain that proves a finding: a place, and what happens there in a few words.

    `depth` is the level of indentation where chains branch; None means one level deeper than the previous link.
    """

    location: Location
    note: str
    depth: int | None = None


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters from `start` to `end` (offsets into the decoded text, `end` exclusive) by `content`.

    An insertion has `start == end`. Offsets count characters of the decoded file as it is on the disk: with its own
    line endings, and without a byte order mark.
    """

    path: Path
    start: int
    end: int
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits, in one or more files, that fix a finding.

    `unsafe_because` says of an unsafe fix what could change or be left, as the end of a sentence; None where the rule
    does not say, as those of other packages need not.

    `after`: files from which the function could be imported that this fix would define. If another fix adds it to one
    of these files, this fix waits, and then imports it.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    after: frozenset[Path] = frozenset()
    unsafe_because: str | None = None

    @classmethod
    def checked(
        cls, message: str, edits: tuple[Edit, ...], because: str | None, after: frozenset[Path] = frozenset()
    ) -> Fix:
        """The fix, unsafe where there is something that it is unsafe `because` of."""
        return cls(Applicability.SAFE if because is None else Applicability.UNSAFE, message, edits, after, because)

    def made_unsafe(self, because: str | None) -> Fix:
        """The fix as an unsafe one; safe or unsafe as it is where there is no reason. The first reason is kept."""
        if because is None:
            return self
        return replace(self, applicability=Applicability.UNSAFE, unsafe_because=self.unsafe_because or because)


@dataclass(frozen=True, slots=True)
class Finding:
    """One proven problem.

    `statement_rows` are the first and the last row of the logical line of the finding; a `# noqa` comment on any of
    them applies. `fix_declined` says in a few words why a rule that has a fix offers none here.

    `left_to_strict`: only the strict profile reports it, because none of the programs that start in these files wants
    to repeat, or, without a file, because no seeded run in sight executes it (only tests, or programs of others), or it
    only decides in which order something is evaluated, or it is in a file that is no longer used or no module, as a
    template is, or another finding of the file says the same. None for what every profile reports. `strict_because`
    says which of that, where no program is named, as the end of a sentence.

    `repeats`: only the strict profile reports it as well, because two runs agree as it is, whatever is chosen for them.
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
    left_to_strict: tuple[Path, ...] | None = None
    strict_because: str = ""
    repeats: bool = False

    @property
    def is_for_strict_alone(self) -> bool:
        """Whether the default profile leaves it out, whatever the settings say: no run that wants to repeat has it, or
        two runs agree as it is.
        """
        return self.left_to_strict is not None or self.repeats

    @property
    def is_fixed_safely(self) -> bool:
        """Whether there is a fix that may be applied unread."""
        return self.fix is not None and self.fix.applicability is Applicability.SAFE

    @property
    def sort_key(self) -> tuple[str, Position, str, str]:
        """Order of report: by file, by place, by code."""
        return (str(self.location.path), self.location.start, self.code, self.message)

    def is_at(self, path: Path, row: int) -> bool:
        """Whether a line belongs to the statement of the finding."""
        first, last = self.statement_rows or (self.location.start.row, self.location.end.row)
        return self.location.path == path and first <= row <= last

    def passes(self, path: Path, row: int) -> bool:
        """Whether the chain that proves the finding passes a line."""
        places = (step.location for step in self.trace)
        return any(place.path == path and place.start.row <= row <= place.end.row for place in places)


@dataclass(frozen=True, slots=True)
class LeftToStrict:
    """What a run leaves to the strict profile.

    `programs` are the files in which programs start that do not want to repeat, and `findings` is how many findings
    concern no other programs. `unread` are files for Python 2, templates and the like, which
    nothing imports and which cannot be read.
    """

    programs: tuple[Path, ...] = ()
    findings: int = 0
    unread: tuple[Path, ...] = ()
