"""The answer for people to one command, of several sets of runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from verify_runs import record

from torchrepro_lint.report.colours import Colours
from torchrepro_lint.verify.script.compare import Comparison
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.output.text import text
from torchrepro_lint.verify.script.result import Outcome, Result


def agreed(perturbation: str | None, watching: float) -> Result:
    """Runs that agreed and took 10 s, `watching` of them for the recording."""
    made = record([Entry("end", detail={"seconds": 10.0, "watching": watching})])
    runs = (Run(made, Path("record"), 10.0),) * 2
    comparison = Comparison(None, Counter(loss=1), 0)
    return Result(
        Outcome.AGREED, ("train.py",), runs, None, (made, made), comparison, perturbation=perturbation
    )  # fmt: skip


def test_the_overhead_of_recording_is_printed_once() -> None:
    answers = [(agreed(None, 0.05), None), (agreed("clock", 0.4), None), (agreed("threads", 0.2), None)]
    assert text(answers, Colours(False)).splitlines() == [
        "no difference observed in 2 runs of train.py: 1 loss agreed",
        "",
        "no difference observed in 2 runs of train.py with clock varied: 1 loss agreed",
        "",
        "no difference observed in 2 runs of train.py with threads varied: 1 loss agreed",
        "",
        "note: watching took at most 4% of a run's 10.0 s",
    ]
