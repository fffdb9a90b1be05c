"""What the recordings of one experiment are called in their folder."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from torchrepro_lint.verify.script.entries import Header

__all__ = ["closer_recordings", "recording_name"]


def recording_name(run: int, varied: str | None, attempt: int | None = None, beside: str | None = None) -> str:
    """`run-1.jsonl`, or `clock-2.jsonl` where the clock is varied; in the second stage, `run-2-full-1.jsonl` with the
    attempt. `beside` is what the other run of the pair varies: each such pair has files of its own.
    """
    opposite = f"-beside-{beside}" if beside is not None and varied is None else ""
    stage = "" if attempt is None else f"-full-{attempt}"
    return f"{varied or 'run'}-{run}{opposite}{stage}.jsonl"


def closer_recordings(first: tuple[Path, Header], second: tuple[Path, Header]) -> tuple[Path, ...]:
    """The two that were fully recorded when these two runs had differed, of the last attempt; or none."""
    if first[0].parent != second[0].parent:
        return ()
    found: tuple[Path, ...] = ()
    for attempt in count(1):
        pair = tuple(
            path.with_name(recording_name(header.run, header.perturbation, attempt, second[1].perturbation))
            for path, header in (first, second)
        )
        if not all(path.is_file() for path in pair):
            return found
        found = pair
    return found
