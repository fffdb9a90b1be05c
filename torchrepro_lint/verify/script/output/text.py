"""The answer for people: a verdict, what differs between the environments, the place and the cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from torchrepro_lint.console import printable
from torchrepro_lint.diagnostics import Location, Position
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.frames import code_frame
from torchrepro_lint.report.text import concise
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.environment import Difference
from torchrepro_lint.verify.script.findings import Link, rules_for
from torchrepro_lint.verify.script.output import wording
from torchrepro_lint.verify.script.output.notes import notes
from torchrepro_lint.verify.script.output.overhead import watching
from torchrepro_lint.verify.script.output.summary import HEAD, headline, rows
from torchrepro_lint.verify.script.result import Outcome, Result

_OUTPUT_LINES = 12
_FRAMES = 3  # at most this many lines that meet what is varied are shown


def text(answers: Sequence[tuple[Result, Link | None]], colours: Colours, remarks: Sequence[str] = ()) -> str:
    """The whole answer to one command. Where something was varied, first what that shows in a sentence and a table."""
    if len(answers) == 1:
        blocks = ["\n".join(_lines(*answers[0], colours))]
    else:
        blocks = ["\n".join(_summary(answers, colours))]
        told = (Outcome.DIFFERED, Outcome.COULD_NOT_RUN)
        blocks += ["\n".join(_lines(result, link, colours)) for result, link in answers[1:] if result.outcome in told]
        rest = dict.fromkeys(note for result, _ in answers if result.outcome not in told for note in notes(result))
        if rest:
            blocks.append("\n".join(f"note: {printable(remark)}" for remark in rest))
    taken = watching([result for result, _ in answers])
    last = [*remarks, *([taken] if taken is not None else [])]
    if last:
        blocks.append("\n".join(f"note: {printable(remark)}" for remark in last))
    return "\n\n".join(blocks)


def _summary(answers: Sequence[tuple[Result, Link | None]], colours: Colours) -> Iterator[str]:
    words, depends = headline(answers)
    failed = any(result.outcome is Outcome.COULD_NOT_RUN for result, _ in answers)
    paint = colours.bad if failed else colours.strong if depends else colours.good
    yield f"{paint(printable(words))}{colours.fragile(depends)}\n"
    table = [HEAD, *(tuple(map(printable, row)) for row in rows(answers))]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    yield from ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)


def _lines(result: Result, link: Link | None, colours: Colours) -> Iterator[str]:
    paint = colours.good if result.outcome in (Outcome.AGREED, Outcome.NOTHING_TO_VARY) else colours.bad
    if result.depends:
        paint = colours.fragile
    head, colon, rest = wording.verdict(result).partition(":")
    yield f"{paint(printable(head))}{colon}{printable(rest)}"
    if result.comparison is not None:
        yield from differences(result.comparison.environment)
        yield from divergence_lines(result, link, colours, Texts())
    if result.outcome is Outcome.COULD_NOT_RUN or result.reason is not None:
        yield from printed_lines(result)
    remarks = list(notes(result))
    if remarks:
        yield ""
    yield from (f"note: {printable(remark)}" for remark in remarks)


def differences(found: Sequence[Difference]) -> Iterator[str]:
    """What the environments do not have in common, as a table."""
    if not found:
        return
    yield "\nThe environments differ:"
    width = max(len(one.name) for one in found)
    for one in found:
        yield f"  {printable(one.name):{width}}  {printable(one.first)}  |  {printable(one.second)}"


def divergence_lines(result: Result, link: Link | None, colours: Colours, texts: Texts) -> Iterator[str]:
    """Where two runs differ and why, with the lines of code, as `texts` has them."""
    comparison = result.comparison
    if comparison is None or comparison.divergence is None:
        return
    folder = result.pair[0].header.folder if result.pair else "."
    cause = result.cause
    shown = cause.at if cause is not None else (comparison.divergence.first, comparison.divergence.second)
    entry = next(one for one in shown if one is not None)
    met = () if cause is None else cause.met[:_FRAMES]
    if entry.place is not None or met:
        yield ""
    for at in met:
        yield from _frame(replace(entry, place=at, via=None, detail={}), folder, texts, colours)
    if entry.place is not None and not met:
        yield from _frame(entry, folder, texts, colours)
    values = [one.shown if one is not None else None for one in shown]
    if all(values) and values[0] != values[1]:
        yield printable(f"in one run {values[0]}, in the other {values[1]}")
    if cause is None:
        if link is not None:
            yield from _explanation(result, link, texts, colours)
        return
    yield f"{colours.strong('cause:')} {printable(wording.reason(cause))}"
    if cause.seed is not None and cause.seed[0].place not in (None, entry.place):
        yield from _frame(cause.seed[0], folder, texts, colours)
    yield from _explanation(result, link, texts, colours)


def _frame(entry: Entry, folder: str, texts: Texts, colours: Colours) -> Iterator[str]:
    assert entry.place is not None
    parts = [colours.strong(printable(wording.place(entry.place, folder)))]
    if module := entry.detail.get("module"):
        parts.append(printable(f"in module {module}"))
    if entry.process != "main":
        parts.append(printable(f"in {entry.process}"))
    if entry.via is not None:
        parts.append(printable(f"by way of {_short(entry.via)}"))
    yield ", ".join(parts)
    path = Path(entry.place.file)
    line = texts.line(path, entry.place.line)
    start = Position(entry.place.line, len(line) - len(line.lstrip()) + 1)
    yield from code_frame(Location(path, start, Position(entry.place.line, len(line) + 1)), texts, colours)


def _short(via: Place) -> str:
    """A library's line by its last folders: where it is installed says nothing."""
    path = via.file.replace("\\", "/")
    for folder in ("/site-packages/", "/dist-packages/"):
        path = path.rpartition(folder)[2]
    return f"{path}:{via.line}"


def _explanation(result: Result, link: Link | None, texts: Texts, colours: Colours) -> Iterator[str]:
    if link is not None:
        head = "the linter's finding there:" if link.proven else "a finding of that kind in the same file:"
        yield f"{colours.strong(head)} {concise(link.finding, texts, colours, fixable=False)}"
        return
    codes = rules_for(result)
    if codes:
        yield f"about such faults: torchrepro-lint rule {codes[0]}"


def printed_lines(result: Result) -> Iterator[str]:
    """The last lines that a run which went wrong has printed."""
    for number, run in enumerate(result.runs, start=1):
        lines = [line for line in run.output.splitlines() if line.strip()]
        if run.trouble is not None and lines:
            yield f"\nthe end of what run {number} printed:"
            yield from (f"  {printable(line)}" for line in lines[-_OUTPUT_LINES:])
            return
