"""The answer for people to one command, of several sets of runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from verify_runs import record

from torchrepro_lint.report.colours import Colours
from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Comparison
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.output.text import text
from torchrepro_lint.verify.script.output.wording import reason
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


def test_a_batch_of_another_worker() -> None:
    batches = [Entry("batch", "batch 2 of loader 0", worker=worker) for worker in (0, 2)]
    draws = [Entry("draw", "random.random", f"worker {worker} of loader 0", output=str(worker)) for worker in (0, 2)]
    cause = Cause("worker", (draws[0], draws[1]), "random", chain=((batches[0], batches[1]),))
    assert reason(cause).startswith(
        "random.random draws from the worker's own state of Python's `random`, and batch 2 of loader 0 was made by "
        "worker 0 in one run and by worker 2 in the other."
    )
