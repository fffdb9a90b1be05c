"""What came of a repair: its rounds, what is left, and the texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from torchrepro_lint.diagnostics import Fix
from torchrepro_lint.fix_report import Change
from torchrepro_lint.verify.script.findings import Link
from torchrepro_lint.verify.script.result import Outcome, Result


class Ending(Enum):
    """How a repair ended. The values are the words of the JSON output."""

    NOTHING = "nothing to repair"
    REPAIRED = "repaired"
    LEFT = "a difference is left"
    COULD_NOT_RUN = "could not run"


@dataclass(frozen=True, slots=True)
class Refused:
    """A fix that was not made for a cause, and why, in words; `fix` is None where the linter has none. `link` is its
    finding, None for the canonical lines that seed.
    """

    link: Link | None
    fix: Fix | None
    why: str


@dataclass(frozen=True, slots=True)
class Look:
    """What the script does with some texts: the result of its plain runs, and those of what was varied."""

    plain: Result
    varied: tuple[Result, ...] = ()

    @property
    def question(self) -> Result | None:
        """The difference that is to be explained next; None where there is none."""
        return next((one for one in (self.plain, *self.varied) if one.outcome is Outcome.DIFFERED), None)


@dataclass(frozen=True, slots=True)
class Round:
    """One difference and what was done about it.

    `texts` are those that ran, by path, where they are not those on the disk. The fix that was made is `fix`, for the
    finding of `link` (None for the canonical lines that seed); None where none was, for the reasons in `refused`.
    """

    question: Result
    texts: Mapping[Path, str]
    fix: Fix | None = None
    link: Link | None = None
    refused: tuple[Refused, ...] = ()

    @property
    def finding(self) -> Link | None:
        """The linter's finding that the round is about."""
        return self.link if self.fix is not None else next((one.link for one in self.refused if one.link), None)


@dataclass(frozen=True, slots=True)
class Repair:
    """The whole of it. `last` is what the script does with the fixes, `left` the rounds whose difference is left.

    `checks` says in words what was asked of each fix by running the script, `unchecked` what could not be. `changes`
    are the files with their new texts; `written` tells whether they were written, and `refusals` why some were not.
    """

    ending: Ending
    rounds: tuple[Round, ...]
    last: Look
    changes: tuple[Change, ...] = ()
    checks: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    written: bool = False
    refusals: tuple[str, ...] = ()

    @property
    def made(self) -> tuple[Round, ...]:
        """The rounds in which a fix was made."""
        return tuple(one for one in self.rounds if one.fix is not None)

    @property
    def left(self) -> tuple[Round, ...]:
        """The rounds whose difference is left."""
        return tuple(one for one in self.rounds if one.fix is None)
