"""`repair --report out.html`: each round with its line and its fix, the whole diff, and the runs that agree at last."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.report.texts import Texts
from torchrepro_lint.verify.repair.output import diff, made, refusal, remarks_on, verdict
from torchrepro_lint.verify.repair.result import Ending, Repair, Round
from torchrepro_lint.verify.script.output import wording
from torchrepro_lint.verify.script.output.html_report import Outcome, Page, PageDivergence, PageRun
from torchrepro_lint.verify.script.output.report_page import page_divergence, page_of
from torchrepro_lint.verify.script.result import Result

_LOOKS: dict[Ending, Outcome] = {
    Ending.NOTHING: "agreed",
    Ending.REPAIRED: "agreed",
    Ending.LEFT: "differed",
    Ending.COULD_NOT_RUN: "failed",
}


def page(repair: Repair) -> Page:
    """The page of a repair."""
    last = page_of([(repair.last.plain, None)])
    found = [_divergence(number, one) for number, one in enumerate(repair.rounds, start=1)]
    # The hashes of each step are those of the last texts: other texts compute something else.
    rounds = [_run(number, one) for number, one in enumerate(repair.rounds, start=1)]
    return Page(
        title=last.title,
        outcome=_LOOKS[repair.ending],
        verdict=verdict(repair),
        about=last.about,
        runs=[*rounds, *last.runs],
        divergences=[one for one in found if one is not None],
        environment=last.environment,
        differences=[],
        notes=list(remarks_on(repair)),
        patch=list(diff(repair)),
        command="repair",
        heads=("round", "differs in", "outcome", "rule"),
    )


def _run(number: int, one: Round) -> PageRun:
    where = one.question.perturbation or "plain runs"
    look: Outcome = "agreed" if one.fix is not None else "differed"
    words = "fixed" if one.fix is not None else "not fixed"
    rule = one.finding.finding.code if one.finding is not None else ""
    return PageRun(f"round {number}", f"{where}: {_seen(one.question)}", look, words, rule, None)


def _seen(result: Result) -> str:
    comparison = result.comparison
    if comparison is None or comparison.divergence is None:
        return result.reason or "they do not end in the same way"
    return wording.where(comparison.divergence)


def _divergence(number: int, one: Round) -> PageDivergence | None:
    found = page_divergence(one.question, one.finding, Texts(one.texts))
    if found is None:
        return None
    return PageDivergence(
        f"Round {number}", found.words, found.place, found.frame, [*found.facts, *_what_was_done(one)]
    )


def _what_was_done(one: Round) -> Iterator[tuple[str, str]]:
    for refused in one.refused:
        yield "not fixed", refusal(refused)
    if one.fix is not None:
        yield "fixed", made(one)
