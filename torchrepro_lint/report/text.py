"""Findings as text: in full, with the code and the chain that proves them, or on one line each."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Applicability, Finding, Severity, TraceStep
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.frames import code_frame, shown_line
from torchrepro_lint.report.texts import Texts, printable

__all__ = ["concise", "full"]

# A chain goes in by two columns a step, as far as a reader follows; then it goes straight down.
_DEEPEST = 8


def concise(finding: Finding, texts: Texts, colours: Colours, fixable: bool) -> str:
    """`path:line:col: TRL101 [*] message`; the star stands where `--fix` mends it."""
    start = finding.location.start
    colon = colours.note(":")
    place = f"{colours.strong(texts.name(finding.location.path))}{colon}{start.row}{colon}{start.column}{colon}"
    paint = colours.bad if finding.severity is Severity.ERROR else colours.fragile
    mark = f" [{colours.note('*')}]" if fixable else ""
    return f"{place} {paint(finding.code)}{mark} {printable(finding.message)}"


def full(finding: Finding, texts: Texts, colours: Colours, fixable: bool) -> str:
    """The line of `concise`, the code frame, what is to be said about a fix, and the chain."""
    lines = [concise(finding, texts, colours, fixable)]
    lines += code_frame(finding.location, texts, colours)
    lines += _about_fix(finding, colours)
    lines += _chain(finding.trace, texts, colours)
    return "\n".join(lines) + "\n"


def _about_fix(finding: Finding, colours: Colours) -> Iterator[str]:
    if finding.fix is not None:
        unsafe = " (needs --unsafe-fixes)" if finding.fix.applicability is Applicability.UNSAFE else ""
        yield f"  {colours.note('fix')}: {printable(finding.fix.message)}{unsafe}"
    elif finding.fix_declined is not None:
        yield f"  {colours.note('fix declined')}: {printable(finding.fix_declined)}"


def _chain(trace: tuple[TraceStep, ...], texts: Texts, colours: Colours) -> Iterator[str]:
    """The steps, each further in than the one it follows from, with the line of code that it speaks of."""
    if trace:
        yield f"  {colours.note('because')}:"
    for depth, step in enumerate(trace):
        indent = "  " * (min(depth, _DEEPEST) + 2)
        start = step.location.start
        yield f"{indent}{texts.name(step.location.path)}:{start.row}:{start.column}: {printable(step.note)}"
        code = shown_line(texts.line(step.location.path, start.row))
        if code:
            yield f"{indent}  {colours.frame('|')} {colours.faint(code)}"
