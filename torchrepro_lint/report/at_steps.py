"""A finding in another file as it is told at the step of its proof that lies in a file at hand.

flake8 and editors show what belongs to the files that they were given. What such a file breaks elsewhere is shown where
its part of the proof is.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from torchrepro_lint.diagnostics import Finding, TraceStep
from torchrepro_lint.report.places import place
from torchrepro_lint.report.texts import Texts

__all__ = ["told_at_steps"]


def told_at_steps(findings: Iterable[Finding], files: Container[Path], texts: Texts) -> Iterator[Finding]:
    """Each finding once, at the last step of its proof in one of the files: the message ends with the place of the
    finding, and the trace begins there.
    """
    for finding in findings:
        step = next((one for one in reversed(finding.trace) if one.location.path in files), None)
        if step is not None:
            own = TraceStep(finding.location, f"{finding.code} is found here")
            message = f"{finding.message} (at {place(finding.location, texts).text})"
            trace = (own, *finding.trace)
            yield replace(finding, message=message, location=step.location, statement_rows=None, trace=trace)
