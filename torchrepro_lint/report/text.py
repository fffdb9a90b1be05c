"""Findings as text: in full, with the code and the chain that proves them, on one line each, or by file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from torchrepro_lint.console import printable
from torchrepro_lint.diagnostics import Applicability, Finding, Severity, TraceStep
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.fix_diff import fix_diff
from torchrepro_lint.report.frames import code_frame, shown_line
from torchrepro_lint.report.next_steps import BY_HAND
from torchrepro_lint.report.places import file_range, place
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.texts import Texts

__all__ = ["concise", "concise_report", "full", "full_report", "grouped_report", "pylint_report"]

# A chain goes in by two columns a step, as far as a reader follows; then it goes straight down.
_DEEPEST = 8


def full_report(reported: ReportInput) -> Iterator[str]:
    """Each finding with its code frame, the chain that proves it, and its fix; a blank line after each."""
    for finding in reported.findings:
        yield full(finding, reported.texts, reported.colours, reported.may_fix(finding))


def concise_report(reported: ReportInput) -> Iterator[str]:
    """A line for each finding."""
    for finding in reported.findings:
        yield concise(finding, reported.texts, reported.colours, reported.may_fix(finding))


def pylint_report(reported: ReportInput) -> Iterator[str]:
    """A line for each finding as pylint writes it, for tools that read its output: `path:line: [TRL101] message`."""
    for finding in reported.findings:
        at = place(finding.location, reported.texts)
        row = file_range(finding.location, reported.texts).start_row
        yield f"{printable(at.name)}:{row}: [{finding.code}] {printable(finding.message)}"


def grouped_report(reported: ReportInput) -> Iterator[str]:
    """The name of each file, and below it a line for each finding with its row and column set flush."""
    texts, colours = reported.texts, reported.colours
    for path, group in groupby(reported.findings, key=lambda finding: finding.location.path):
        findings = list(group)
        yield f"{colours.strong(texts.name(path))}:"
        places = [_within(finding, texts) for finding in findings]
        width = max(map(len, places))
        for finding, where in zip(findings, places, strict=True):
            yield f"  {where:{width}} {_what(finding, colours, reported.may_fix(finding))}"
        yield ""


def concise(finding: Finding, texts: Texts, colours: Colours, fixable: bool) -> str:
    """`path:line:col: TRL101 [*] message`; the star stands where `--fix` fixes it."""
    at = place(finding.location, texts)
    colon = colours.note(":")
    where = at.text[len(at.name) + 1 :].replace(":", colon)
    return f"{colours.strong(at.name)}{colon}{where}{colon} {_what(finding, colours, fixable)}"


def full(finding: Finding, texts: Texts, colours: Colours, fixable: bool) -> str:
    """The line of `concise`, the code frame, the chain, and the fix."""
    lines = [concise(finding, texts, colours, fixable)]
    lines += code_frame(finding.location, texts, colours)
    lines += _chain(finding.trace, texts, colours)
    lines += _about_fix(finding, texts, colours)
    return "\n".join(lines) + "\n"


def _what(finding: Finding, colours: Colours, fixable: bool) -> str:
    paint = colours.bad if finding.severity is Severity.ERROR else colours.fragile
    mark = f" [{colours.note('*')}]" if fixable else ""
    return f"{paint(finding.code)}{mark} {printable(finding.message)}"


def _within(finding: Finding, texts: Texts) -> str:
    """The place in its file: `12:5`, with the cell of a notebook before it."""
    return place(finding.location, texts).within


def _about_fix(finding: Finding, texts: Texts, colours: Colours) -> Iterator[str]:
    if finding.fix is not None:
        because = f": {finding.fix.unsafe_because}" if finding.fix.unsafe_because is not None else ""
        unsafe = f" (needs --unsafe-fixes{because})" if finding.fix.applicability is Applicability.UNSAFE else ""
        yield f"  {colours.note('fix')}: {printable(finding.fix.message + unsafe)}"
        for line in fix_diff(finding, texts, colours):
            yield f"    {line}"
    elif finding.fix_declined is not None:
        yield f"  {colours.note('fix declined')}: {printable(finding.fix_declined)}"
    elif finding.code in BY_HAND:
        yield f"  {colours.note('to do')}: {BY_HAND[finding.code]}"


def _chain(trace: tuple[TraceStep, ...], texts: Texts, colours: Colours) -> Iterator[str]:
    """The steps, each further in than the one it follows from, with the line of code that it is about."""
    if trace:
        yield f"  {colours.note('because')}:"
    depth = -1
    for step in trace:
        depth = depth + 1 if step.depth is None else step.depth
        indent = "  " * (min(depth, _DEEPEST) + 2)
        yield f"{indent}{place(step.location, texts).text}: {printable(step.note)}"
        code = shown_line(texts.line(step.location.path, step.location.start.row))
        if code:
            yield f"{indent}  {colours.frame('|')} {colours.faint(code)}"
