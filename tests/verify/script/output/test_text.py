"""The answer for people to one command, of several sets of runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from verify_runs import record

from torchrepro_lint.report.colours import Colours
from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Comparison, Divergence
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.environment import Difference
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


def varied(name: str, outcome: Outcome = Outcome.AGREED, reason: str | None = None) -> Result:
    return replace(agreed(name, 0.01), outcome=outcome, reason=reason)


def depends(name: str) -> Result:
    one, other = (
        Entry("loss", "loss", step=3, output=text, place=Place("/project/train.py", 7)) for text in ("1.5", "2.5")
    )
    comparison = Comparison(Divergence("main", one, other, "result"), Counter(), 0)
    return replace(varied(name, Outcome.DIFFERED), comparison=comparison, cause=Cause("operation", (one, other)))


def test_where_something_was_varied_the_verdict_comes_first_and_then_a_table() -> None:
    answers = [agreed(None, 0.05), varied("listing", Outcome.NOTHING_TO_VARY), depends("workers"), depends("threads")]
    lines = text([(one, None) for one in answers], Colours(False), ["a remark"]).splitlines()
    assert lines[:7] == [
        "2 plain runs of train.py agree; the result depends on: workers, threads",
        "",
        "varied   outcome                              where       rule",
        "nothing  2 runs agree                         1 loss",
        "listing  the script uses nothing of the kind",
        "workers  the result depends on it             train.py:7  TRL101",
        "threads  the result depends on it             train.py:7",
    ]
    assert lines[8].startswith(
        "the result depends on workers: train.py with workers varied did not give what it gives "
    )
    assert sum(line.startswith("the result depends on ") for line in lines) == 2
    # What agreed is not told again, and watching once.
    assert lines[-2:] == ["note: a remark", "note: watching took less than 1% of a run's 10.0 s"]
    assert not any("difference observed" in line for line in lines)


def test_what_was_not_asked_about_is_not_red() -> None:
    painted = text([(agreed(None, 0.05), None), (depends("workers"), None)], Colours(True))
    assert "\x1b[1;31m" not in painted and "depends on: \x1b[0m\x1b[1;33mworkers\x1b[0m" in painted
    failed = varied("clock", Outcome.COULD_NOT_RUN, "run 2 failed")
    painted = text([(agreed(None, 0.05), None), (failed, None)], Colours(True))
    assert "\x1b[1;31m" in painted and "with clock varied it could not be run" in painted


def test_what_depends_on_nothing() -> None:
    answers = [(agreed(None, 0.005), None), (varied("clock"), None), (varied("threads"), None)]
    assert text(answers, Colours(False)).splitlines() == [
        "2 plain runs of train.py agree; nothing that was varied changes the result",
        "",
        "varied   outcome                 where   rule",
        "nothing  2 runs agree            1 loss",
        "clock    no difference observed",
        "threads  no difference observed",
        "",
        "note: watching took less than 1% of a run's 10.0 s",
    ]


def test_a_batch_of_another_worker() -> None:
    batches = [Entry("batch", "batch 2 of loader 0", worker=worker) for worker in (0, 2)]
    draws = [Entry("draw", "random.random", f"worker {worker} of loader 0", output=str(worker)) for worker in (0, 2)]
    cause = Cause("worker", (draws[0], draws[1]), "random", chain=((batches[0], batches[1]),))
    assert reason(cause).startswith(
        "random.random draws from the worker's own state of Python's `random`, and batch 2 of loader 0 was made by "
        "worker 0 in one run and by worker 2 in the other."
    )


def test_control_characters_of_names_are_escaped() -> None:
    nasty = "a\x1b[31m\n::error::\u202e.py"
    result = replace(agreed(None, 0.05), command=(nasty,))
    two = replace(depends("workers"), command=(nasty,))
    assert two.cause is not None and two.comparison is not None and two.comparison.divergence is not None
    first, second = (
        replace(
            one,
            place=Place(f"/project/{nasty}", 7),
            process=nasty,
            via=Place(nasty, 1),
            detail={"module": nasty},
            output=f"{nasty}{number}",
        )
        for number, one in enumerate(two.cause.at)
        if one is not None
    )
    divergence = replace(two.comparison.divergence, first=first, second=second)
    environment = (Difference(nasty, nasty, "x"),)
    two = replace(
        two,
        comparison=replace(two.comparison, divergence=divergence, environment=environment),
        cause=replace(two.cause, at=(first, second)),
    )
    for answers in ([(result, None)], [(two, None)], [(result, None), (two, None)]):
        said = text(answers, Colours(False))
        assert "\\x1b[31m\\n::error::\\u202e" in said
        assert all(one.isprintable() for one in said.replace("\n", ""))
        assert "\n::error::" not in said
