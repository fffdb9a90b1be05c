"""The answer for programs: one object for each set of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Divergence
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.findings import Link, rules_for
from torchrepro_lint.verify.script.output import wording
from torchrepro_lint.verify.script.output.notes import notes
from torchrepro_lint.verify.script.output.overhead import overhead
from torchrepro_lint.verify.script.result import Result


def as_json(result: Result, link: Link | None) -> dict[str, Any]:
    """All of an answer as plain values."""
    comparison = result.comparison
    return {
        "outcome": result.outcome.value,
        "verdict": wording.verdict(result),
        "command": list(result.command),
        "perturbation": result.perturbation,
        "reason": result.reason,
        "compared": dict(comparison.compared) if comparison else {},
        "unread": comparison.unread if comparison else 0,
        "environment": result.pair[0].environment if result.pair else {},
        "environment_differences": [
            {"name": one.name, "first": one.first, "second": one.second}
            for one in (comparison.environment if comparison else ())
        ],
        "divergence": _divergence(comparison.divergence) if comparison and comparison.divergence else None,
        "cause": _cause(result.cause, rules_for(result), link) if result.cause else None,
        "met": [_place(one) for one in result.met],
        "notes": list(notes(result)),
        "overhead": asdict(taken) if (taken := overhead(result)) else None,
        "runs": [
            {
                "seconds": round(run.seconds, 3),
                "trouble": run.trouble,
                "entries": len(run.record.entries) if run.record else 0,
                "record": str(run.path) if run.path.exists() else None,  # kept with --save
                "output": run.output,
            }
            for run in result.runs
        ],
    }


def _divergence(divergence: Divergence) -> dict[str, Any]:
    return {
        "how": divergence.how,
        "process": divergence.process,
        "first": _entry(divergence.first),
        "second": _entry(divergence.second),
    }


def _cause(cause: Cause, rules: Sequence[str], link: Link | None) -> dict[str, Any]:
    return {
        "why": cause.why,
        "words": wording.reason(cause),
        "rng": cause.rng,
        "in_worker": cause.in_worker,
        "first": _entry(cause.at[0]),
        "second": _entry(cause.at[1]),
        "seed": [_entry(one) for one in cause.seed] if cause.seed else None,
        "rules": list(rules),
        "finding": _finding(link) if link else None,
    }


def _finding(link: Link) -> dict[str, Any]:
    finding = link.finding
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": str(finding.location.path),
        "row": finding.location.start.row,
        "column": finding.location.start.column,
        "proven": link.proven,
    }


def _entry(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {
        "kind": entry.kind,
        "name": entry.name,
        "process": entry.process,
        "step": entry.step,
        "epoch": entry.epoch,
        "worker": entry.worker,
        "place": _place(entry.place),
        "via": _place(entry.via),
        "inputs": entry.inputs,
        "output": entry.output,
        "shown": entry.shown,
        "module": entry.detail.get("module"),
        "device": entry.detail.get("device"),
        "backward": bool(entry.detail.get("backward")),
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"filename": place.file, "row": place.line, "function": place.function}
