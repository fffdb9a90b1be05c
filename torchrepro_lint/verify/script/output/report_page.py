"""What the page says of the answers to one command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.frames import CONTEXT, as_shown
from torchrepro_lint.report.text import concise
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.environment import Difference
from torchrepro_lint.verify.script.findings import Link, rules_for
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.output import wording
from torchrepro_lint.verify.script.output.html_report import FrameLine, Outcome, Page, PageDivergence, PageRun
from torchrepro_lint.verify.script.output.notes import notes
from torchrepro_lint.verify.script.output.overhead import watching
from torchrepro_lint.verify.script.output.summary import headline
from torchrepro_lint.verify.script.perturbations import PERTURBATIONS
from torchrepro_lint.verify.script.result import Outcome as RunsOutcome
from torchrepro_lint.verify.script.result import Result

_LOOKS: dict[RunsOutcome, Outcome] = {
    RunsOutcome.AGREED: "agreed",
    RunsOutcome.DIFFERED: "differed",
    RunsOutcome.COULD_NOT_RUN: "failed",
    RunsOutcome.NOTHING_TO_VARY: "other",
}
# What a page leads with, where the answers differ.
_GRAVEST = (RunsOutcome.DIFFERED, RunsOutcome.COULD_NOT_RUN, RunsOutcome.AGREED, RunsOutcome.NOTHING_TO_VARY)

Answer = tuple[Result, Link | None]


def page_of(answers: Sequence[Answer]) -> Page:
    """The page for the answers to one command: the plain runs first, then one for each perturbation."""
    plain = answers[0][0]
    worst = min((result for result, _ in answers), key=lambda result: _GRAVEST.index(result.outcome))
    first = next((run.record for run in plain.runs if run.record is not None), None)
    remarks = dict.fromkeys(note for result, _ in answers for note in notes(result))
    if (taken := watching(result for result, _ in answers)) is not None:
        remarks[taken] = None
    return Page(
        title=wording.command(plain.command),
        outcome="other" if worst.depends else _LOOKS[worst.outcome],
        verdict=wording.verdict(worst) if len(answers) == 1 else "".join(headline(answers)),
        about=list(_about(answers)),
        runs=[*_plain_runs(plain), *(_varied_run(result) for result, _ in answers[1:])],
        divergences=[found for answer in answers if (found := page_divergence(*answer, Texts())) is not None],
        environment={} if first is None else first.environment,
        differences=list(_differences(answers)),
        notes=list(remarks),
    )


def _about(answers: Sequence[Answer]) -> Iterator[tuple[str, str]]:
    for result, _ in answers:
        for run in result.runs:
            if run.record is not None:
                header = run.record.header
                yield "folder", header.folder
                yield "started", header.started
                yield "torchrepro-lint", header.tool
                return


def _plain_runs(result: Result) -> Iterator[PageRun]:
    for number, run in enumerate(result.runs, start=1):
        if run.trouble is not None:
            look, words = "failed", run.trouble
        elif number == 1:
            look, words = "first", "the others are compared with it"
        elif result.outcome is RunsOutcome.DIFFERED and result.pair is not None and run.record is result.pair[1]:
            look, words = "differed", _differed(result)
        else:
            look, words = "agreed", "no difference observed"
        yield _run(f"run {number}", "nothing", look, words, "", run)


def _varied_run(result: Result) -> PageRun:
    name = result.perturbation or ""
    varied = PERTURBATIONS[name]
    words = {
        RunsOutcome.AGREED: "no difference observed",
        RunsOutcome.DIFFERED: _differed(result),
        RunsOutcome.NOTHING_TO_VARY: "the script has nothing of the kind to vary",
        RunsOutcome.COULD_NOT_RUN: result.reason or "could not run",
    }[result.outcome]
    look = "other" if result.depends else _LOOKS[result.outcome]
    return _run(name, varied.about, look, words, ", ".join(varied.rules), result.runs[-1])


def _run(name: str, varied: str, look: str, verdict: str, rules: str, run: Run) -> PageRun:
    return PageRun(name, varied, look, verdict, rules, run.record)  # type: ignore[arg-type]


def _differed(result: Result) -> str:
    comparison = result.comparison
    if comparison is None or comparison.divergence is None:
        return result.reason or "differed"
    return wording.where(comparison.divergence)


def _differences(answers: Sequence[Answer]) -> Iterator[tuple[str, Difference]]:
    for result, _ in answers:
        if result.comparison is not None:
            for one in result.comparison.environment:
                yield result.perturbation or f"run {len(result.runs)}", one


def page_divergence(result: Result, link: Link | None, texts: Texts) -> PageDivergence | None:
    """Where two runs differ and why, with the lines of code as `texts` has them; None where they do not."""
    comparison, cause = result.comparison, result.cause
    if comparison is None or comparison.divergence is None:
        return None
    at = cause.at if cause is not None else (comparison.divergence.first, comparison.divergence.second)
    entry = next(one for one in at if one is not None)
    return PageDivergence(
        head=f"What depends on {result.perturbation}" if result.perturbation else "Where they first differ",
        words=f"Of the two runs, {wording.where(comparison.divergence)}" if cause is None else wording.reason(cause),
        place=cause.place if cause is not None else entry.place,
        frame=_frame(cause.place if cause is not None else entry.place, texts),
        facts=list(_facts(result, at, link, texts)),
    )


def _facts(
    result: Result, at: tuple[Entry | None, Entry | None], link: Link | None, texts: Texts
) -> Iterator[tuple[str, str]]:
    comparison, cause = result.comparison, result.cause
    if comparison is not None and comparison.divergence is not None:
        yield "seen first", wording.where(comparison.divergence)
    for name, entry in zip(("one run", "the other"), at, strict=True):
        if entry is not None and entry.shown is not None:
            yield name, entry.shown
    if cause is None:
        return
    if cause.in_worker:
        yield "in", cause.process
    if module := cause.at[0].detail.get("module"):
        yield "module", str(module)
    if cause.seed is not None and (place := cause.seed[0].place) is not None:
        yield "seeded at", f"{place.file}:{place.line}: {texts.line(Path(place.file), place.line).strip()}"
    if link is not None:
        head = "the linter's finding there" if link.proven else "a finding of that kind in the file"
        yield head, concise(link.finding, texts, Colours(False), fixable=False)
    elif codes := rules_for(result):
        yield "about such faults", f"torchrepro-lint rule {codes[0]}"


def _frame(place: Place | None, texts: Texts) -> list[FrameLine]:
    if place is None:
        return []
    lines = texts.lines(Path(place.file))
    if not 0 < place.line <= len(lines):
        return []
    shown = range(max(1, place.line - CONTEXT), min(len(lines), place.line + CONTEXT) + 1)
    return [FrameLine(number, as_shown(lines[number - 1]), number == place.line) for number in shown]
