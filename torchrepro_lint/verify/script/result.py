"""What came of the runs of a script: the data that the output is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Comparison
from torchrepro_lint.verify.script.entries import TOOK_EFFECT, Place
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.record import Record


class Outcome(Enum):
    """What is to be said of some runs. The values are the words of the JSON output."""

    AGREED = "agreed"
    DIFFERED = "differed"
    NOTHING_TO_VARY = "nothing to vary"
    COULD_NOT_RUN = "could not run"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of some runs of one script under one condition.

    `reason` says why nothing can be said. `runs` are those of the first stage; `pair` are the two that differed, or the
    first and the last, and `comparison` is theirs. `full_runs` are the two fully recorded ones in which the `cause` was
    found, after `attempts` of such pairs. `perturbation` names what was varied. `lost_states` are the RNGs whose state
    a training that was resumed did not have again, `lost_settings` in words what its first step was made with, and is
    not in one go. `repeated` are the steps of the last checkpoint and of the first half's end, where it had gone on
    after that. With `from_files` nothing was run: these are records that were made
    before, and `closer` are the files of those that were made to find the cause. With `in_scratch` each run had a
    folder of its own, which is gone.
    """

    outcome: Outcome
    command: tuple[str, ...]
    runs: tuple[Run, ...]
    reason: str | None = None
    pair: tuple[Record, Record] | None = None
    comparison: Comparison | None = None
    full_runs: tuple[Run, ...] = ()
    cause: Cause | None = None
    perturbation: str | None = None
    attempts: int = 0
    from_files: bool = False
    closer: tuple[Path, ...] = ()
    lost_states: tuple[str, ...] = ()
    lost_settings: tuple[str, ...] = ()
    repeated: tuple[int, int] | None = None
    in_scratch: bool = False

    @property
    def depends(self) -> bool:
        """Whether the script agrees with itself, and gave something else where one thing was varied."""
        return self.perturbation is not None and self.outcome is Outcome.DIFFERED and not self.from_files

    @property
    def wrote(self) -> tuple[str, ...]:
        """The files that the first run wrote into its folder."""
        return tuple(self.runs[0].wrote) if self.runs else ()

    @property
    def met(self) -> tuple[Place, ...]:
        """The lines at which the script met what was varied."""
        record = self.runs[-1].record if self.perturbation is not None and self.runs else None
        notes = () if record is None else (note for note in record.of_kind("note") if note.name == TOOK_EFFECT)
        return tuple(dict.fromkeys(note.place for note in notes if note.place is not None))
