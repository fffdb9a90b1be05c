"""What the page says of answers: which one it leads with, and what it says of each run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Comparison, Divergence
from torchrepro_lint.verify.script.entries import Entry, Header, Place
from torchrepro_lint.verify.script.environment import Difference
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.output.html_report import FrameLine, render
from torchrepro_lint.verify.script.output.report_page import page_of
from torchrepro_lint.verify.script.record import Record
from torchrepro_lint.verify.script.result import Outcome, Result

COMMAND = ("train.py", "--epochs", "1")


def record(loss: str = "l") -> Record:
    entries = (Entry("environment", detail={"python": "3.11"}), Entry("loss", "loss", step=0, output=loss, shown=loss))
    return Record(Header(COMMAND, "/home/you", started="2026-01-02T03:04:05+00:00", tool="1"), entries)


def run(of: Record | None, trouble: str | None = None) -> Run:
    return Run(of, Path("record"), 1.0, trouble)


ONE = record()
AGREED = Result(
    Outcome.AGREED, COMMAND, (run(ONE), run(record())), None, (ONE, ONE), Comparison(None, Counter(loss=1), 0)
)


def differed(place: Place | None = None, *, explained: bool = True, perturbation: str | None = None) -> Result:
    entries = tuple(Entry("loss", "loss", step=0, place=place, output=text, shown=text) for text in ("1.5", "2.5"))
    other = record("m")
    comparison = Comparison(
        Divergence("main", entries[0], entries[1], "result"), Counter(), 0, [Difference("threads", "2", "1")]
    )
    cause = Cause("unseeded", entries, "numpy") if explained else None
    runs = (run(ONE), run(other))
    return Result(
        Outcome.DIFFERED, COMMAND, runs, None, (ONE, other), comparison, cause=cause, perturbation=perturbation
    )


def test_runs_that_agree() -> None:
    page = page_of([(AGREED, None)])
    assert (page.title, page.outcome, page.divergences) == ("train.py --epochs 1", "agreed", [])
    assert page.verdict.startswith("no difference observed in 2 runs")
    assert [(one.name, one.outcome) for one in page.runs] == [("run 1", "first"), ("run 2", "agreed")]
    assert ("folder", "/home/you") in page.about
    assert page.environment == {"python": "3.11"}
    render(page)


def test_runs_that_part(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("one\n\ttwo <b>\nthree\n")
    page = page_of([(differed(Place(str(script), 2, "main")), None)])
    assert page.outcome == "differed"
    assert [one.outcome for one in page.runs] == ["first", "differed"]
    (divergence,) = page.divergences
    assert divergence.frame == [
        FrameLine(1, "one", False),
        FrameLine(2, "    two <b>", True),
        FrameLine(3, "three", False),
    ]
    assert "NumPy's global RNG" in divergence.words
    assert ("one run", "1.5") in divergence.facts and ("the other", "2.5") in divergence.facts
    assert page.differences == [("run 2", Difference("threads", "2", "1"))]
    assert "two &lt;b&gt;" in render(page)


def test_without_a_cause_or_a_file_it_says_what_was_seen() -> None:
    page = page_of([(differed(Place("/no/such.py", 7), explained=False), None)])
    (divergence,) = page.divergences
    assert divergence.frame == []
    assert divergence.words == "Of the two runs, they first differ in step 0, at the loss"


def test_a_page_leads_with_the_verdict_on_all() -> None:
    varied = differed(perturbation="listing")
    also = differed(perturbation="threads")
    nothing = Result(
        Outcome.NOTHING_TO_VARY, COMMAND, AGREED.runs, None, AGREED.pair, AGREED.comparison, perturbation="eval"
    )
    page = page_of([(AGREED, None), (varied, None), (nothing, None), (also, None)])
    assert page.outcome == "other"
    assert page.verdict == "2 plain runs of train.py --epochs 1 agree; the result depends on: listing, threads"
    assert [(one.name, one.outcome, one.rules) for one in page.runs[2:]] == [
        ("listing", "other", "TRL207"),
        ("eval", "other", "TRL201, TRL202, TRL509"),
        ("threads", "other", ""),
    ]
    assert page.differences[0][0] == "listing"
    assert [one.head for one in page.divergences] == ["What depends on listing", "What depends on threads"]
    render(page)


def test_runs_that_could_not_be_made() -> None:
    failed = Result(Outcome.COULD_NOT_RUN, COMMAND, (run(None, "left no recording"),), "run 1 left no recording")
    page = page_of([(failed, None)])
    assert (page.outcome, page.runs[0].verdict, page.environment) == ("failed", "left no recording", {})
    assert "<svg" not in render(page)
