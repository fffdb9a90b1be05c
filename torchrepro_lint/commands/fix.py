"""`torchrepro-lint --fix`, `--fix-only` and `--diff`: fix, or show what would be, and print what is left."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from torchrepro_lint.commands.check import CheckOptions, print_all, print_report, run_options, status
from torchrepro_lint.console import StatusLine, print_errors, printable
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fix_report import FixReport
from torchrepro_lint.report.colours import Colours, wants_colour
from torchrepro_lint.report.formats import is_for_people
from torchrepro_lint.report.places import place
from torchrepro_lint.report.summary import fix_summary, list_fixes
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.toolkit import Toolkit

__all__ = ["print_fixes", "run_fix"]


def run_fix(options: CheckOptions, toolkit: Toolkit | None = None) -> int:
    """Fix the files of the paths, print, and give the exit status as `run_check` does.

    TorchReproLintError where the paths or the settings are wrong.
    """
    with StatusLine.on(sys.stderr, shown=not options.quiet) as line:
        result = fix(
            options.paths,
            options.override,
            write=not options.diff,
            toolkit=toolkit,
            run=run_options(options, line),
            through_links=options.through_links,
        )
    # What is left is found in the new texts, which are on the disk only where they were written.
    texts = Texts({change.source.path: change.text for change in result.changes} if options.diff else {})
    return print_fixes(result, options, texts, toolkit, sys.stdout)


def print_fixes(result: FixReport, options: CheckOptions, texts: Texts, toolkit: Toolkit | None, stream: TextIO) -> int:
    """Print a difference on standard output or what is left on `stream`, what else is to be said beside it, and give
    the exit status.
    """
    without_findings = options.diff or options.fix_only
    if (without_findings or options.output_format != "full") and not options.silent:
        _print_rejected(result, texts)
    if without_findings and not (options.silent or options.quiet):
        _print_unsafe(result, texts)
    if options.diff:
        _print_difference(result, options, texts)
    # Beside a difference, or what a program reads, standard output is not ours to write on.
    notes = stream if is_for_people(options.output_format) and not options.diff else sys.stderr
    sys.stdout.flush()
    if options.show_fixes and not options.quiet:
        print_all(list_fixes(result.fixed, texts, written=not options.diff), notes)
    if not without_findings:
        colours = Colours(wants_colour(options.colour, stream, os.environ))
        print_report(result.report, options, texts, colours, toolkit, fixed=result.fixed, stream=stream)
    else:
        if not options.quiet:
            report = result.report
            line = fix_summary(result.fixed, report.everything, report.may_fix, written=not options.diff)
            print(line, file=notes)
        print_errors(result.report.errors)
    left = bool(result.report.everything) and not options.fix_only
    changed = bool(result.changes) and (options.diff or options.exit_non_zero_on_fix)
    return status(result.report, options, left or changed)


def _print_rejected(result: FixReport, texts: Texts) -> None:
    for rejected in result.rejected:
        where = place(rejected.finding.location, texts).text
        print(f"{where}: {rejected.finding.code} fix declined: {printable(rejected.reason)}", file=sys.stderr)


def _print_unsafe(result: FixReport, texts: Texts) -> None:
    """What is left of fixes that are unsafe, each with the reason."""
    report = result.report
    for finding in report.everything:
        fix = finding.fix
        if fix is not None and fix.unsafe_because is not None and not report.may_fix(finding):
            where = place(finding.location, texts).text
            line = f"{finding.code} unsafe fix not made: {fix.message}: {fix.unsafe_because}"
            print(f"{where}: {printable(line)}", file=sys.stderr)


def _print_difference(result: FixReport, options: CheckOptions, texts: Texts) -> None:
    colours = Colours(wants_colour(options.colour, sys.stdout, os.environ))
    for change in result.changes:
        for line in change.diff(texts.name(change.source.path)):
            sys.stdout.write(_painted(line, colours))


def _painted(line: str, colours: Colours) -> str:
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    if sys.stdout.isatty():
        # On a terminal, control characters of the code would take effect; a patch file must hold them as they are.
        body = "\t".join(map(printable, body.split("\t")))
    if body.startswith(("+++", "---")):
        return colours.strong(body) + end
    paint = {"+": colours.good, "-": colours.gone, "@": colours.note}.get(body[:1])
    return (paint(body) if paint else body) + end
