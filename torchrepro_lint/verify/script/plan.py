"""What is recorded in a run: the parent decides it, each process of the run goes by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FetchWindow:
    """Fetches of one worker in one epoch, counted from 0: from `start` up to `stop`, which is none of them."""

    worker: str
    epoch: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is recorded in a run; it goes to each process of it.

    Marks count what a process has told of batches, losses and parameters. With stage 2, operations and draws are
    recorded from the mark `start` up to the mark `stop`, or to the end; in a loader's workers in these `fetches`. With
    `leave`, the main process ends at the mark `stop`, by SystemExit: what comes then is of no interest. With `contend`,
    a second stream keeps a GPU busy meanwhile: what depends on timing there then shows sooner. With `steps`, each
    process ends after so many optimizer steps (see `watch/limit.py`). With `settings`, what each step is made
    with is told. With `ticking`, the clock goes on by the same little at each call: times agree in all runs.
    The script is started in `ranks` processes, as torchrun does, or in one as usual where that is 0.
    """

    path: str
    stage: int = 1
    start: int = 0
    stop: int | None = None
    fetches: tuple[FetchWindow, ...] = ()
    leave: bool = False
    contend: bool = False
    steps: int | None = None
    settings: bool = False
    ticking: bool = False
    ranks: int = 0

    @property
    def is_full(self) -> bool:
        """Whether operations and draws are to be recorded at all."""
        return self.stage > 1

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Plan:
        """The plan that `dataclasses.asdict` has made values of."""
        return cls(**{**values, "fetches": tuple(FetchWindow(**window) for window in values["fetches"])})
