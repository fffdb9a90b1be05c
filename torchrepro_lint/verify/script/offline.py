"""Two records from files, compared as two runs are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from torchrepro_lint.verify.script.cause import find_cause
from torchrepro_lint.verify.script.compare import compare
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.record import Record
from torchrepro_lint.verify.script.recording_names import closer_recordings
from torchrepro_lint.verify.script.result import Outcome, Result


def compare_records(first: Record, second: Record, paths: tuple[Path, Path]) -> Result:
    """Where two records differ; with records of the second stage, also why."""
    runs = tuple(Run(record, path, _seconds(record)) for record, path in zip((first, second), paths, strict=True))
    comparison = compare(first, second)
    result = Result(
        Outcome.AGREED,
        first.header.command,
        runs,
        pair=(first, second),
        comparison=comparison,
        perturbation=second.header.perturbation,
        from_files=True,
        closer=closer_recordings((paths[0], first.header), (paths[1], second.header)),
    )
    if comparison.divergence is not None:
        are_full = min(first.header.stage, second.header.stage) > 1
        cause = find_cause(first, second, comparison.divergence) if are_full else None
        return replace(result, outcome=Outcome.DIFFERED, cause=cause)
    if comparison.total == 0:
        reason = "the recordings have nothing in common that could be compared"
        return replace(result, outcome=Outcome.COULD_NOT_RUN, reason=reason)
    return result


def _seconds(record: Record) -> float:
    return float(record.end.detail.get("seconds", 0.0)) if record.end is not None else 0.0
