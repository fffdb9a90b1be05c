"""The answer to a command that varied something, in one sentence and one table."""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.verify.script.findings import Link, rules_for
from torchrepro_lint.verify.script.output import wording
from torchrepro_lint.verify.script.result import Outcome, Result

HEAD = ("varied", "outcome", "where", "rule")


def headline(answers: Sequence[tuple[Result, Link | None]]) -> tuple[str, str]:
    """What was observed, and what the result depends on: both in words, the latter empty where it depends on nothing.

    The plain runs are the first answer, and agreed.
    """
    plain, varied = answers[0][0], [result for result, _ in answers[1:]]
    runs = f"{len(plain.runs)} plain runs of {wording.command(plain.command)} agree{wording.stopped(plain)}"
    failed = _names(varied, Outcome.COULD_NOT_RUN)
    rest = f"; with {failed} varied it could not be run" if failed else ""
    if depends := _names(varied, Outcome.DIFFERED):
        return f"{runs}{rest}; the result depends on: ", depends
    return f"{runs}{rest}; nothing else that was varied changes the result" if rest else (
        f"{runs}; nothing that was varied changes the result"
    ), ""


def rows(answers: Sequence[tuple[Result, Link | None]]) -> list[tuple[str, str, str, str]]:
    """A row for each set of runs, with the cells of `HEAD`."""
    return [_row(*answer) for answer in answers]


def _row(result: Result, link: Link | None) -> tuple[str, str, str, str]:
    if result.perturbation is None:
        compared = "" if result.comparison is None else wording.counts(result.comparison)
        return "nothing", f"{len(result.runs)} runs agree", compared, ""
    words = {
        Outcome.AGREED: "no difference observed",
        Outcome.DIFFERED: "the result depends on it",
        Outcome.NOTHING_TO_VARY: "the script uses nothing of the kind",
        Outcome.COULD_NOT_RUN: "could not run",
    }[result.outcome]
    if result.outcome is not Outcome.DIFFERED:
        return result.perturbation, words, "", ""
    codes = rules_for(result)
    code = link.finding.code if link is not None else codes[0] if codes else ""
    return result.perturbation, words, _where(result), code


def _where(result: Result) -> str:
    """The line, or else the step."""
    divergence = result.comparison.divergence if result.comparison is not None else None
    entry = result.cause.at[0] if result.cause is not None else divergence.entry if divergence is not None else None
    if entry is None:
        return ""
    place = result.cause.place if result.cause is not None else entry.place
    if place is None or result.pair is None:
        return wording.when(entry)
    return place.below(result.pair[0].header.folder)


def _names(results: Sequence[Result], outcome: Outcome) -> str:
    return ", ".join(result.perturbation or "" for result in results if result.outcome is outcome)
