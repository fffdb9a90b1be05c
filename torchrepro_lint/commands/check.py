"""`torchrepro-lint [PATH ...]`: check, mend, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from torchrepro_lint.engine import Report, Toolkit, check
from torchrepro_lint.report.colours import ColourChoice, Colours, wants_colour
from torchrepro_lint.report.summary import statistics, summary, would_fix
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.settings import SettingsOverride

__all__ = ["CheckOptions", "run_check"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The arguments of the command. With `diff`, nothing is written."""

    paths: tuple[Path, ...] = (Path(),)
    override: SettingsOverride = field(default_factory=SettingsOverride)
    fix: bool = False
    diff: bool = False
    output_format: Literal["full", "concise", "json"] = "full"
    exit_zero: bool = False
    quiet: bool = False
    statistics: bool = False
    colour: ColourChoice = "auto"


def run_check(options: CheckOptions, toolkit: Toolkit | None = None) -> int:
    """Check, print, and give the exit status: 0 nothing is left, 1 findings or changes to make, 2 a fault of the tool.

    TorchReproLintError where the paths or the settings are wrong.
    """
    colours = Colours(wants_colour(options.colour, sys.stdout, os.environ))
    if options.fix or options.diff:
        return _repair(options, colours, toolkit)
    report = check(options.paths, options.override, toolkit=toolkit)
    _print_report(report, options, Texts(), colours, fixed=0)
    return _status(report, options, bool(report.findings))


def _repair(options: CheckOptions, colours: Colours, toolkit: Toolkit | None) -> int:
    from torchrepro_lint.fix_loop import fix

    result = fix(options.paths, options.override, write=not options.diff, toolkit=toolkit)
    texts = Texts({change.source.path: change.text for change in result.changes} if options.diff else {})
    for dropped in result.dropped:
        start = dropped.finding.location.start
        place = f"{texts.name(dropped.finding.location.path)}:{start.row}:{start.column}"
        print(f"{place}: {dropped.finding.code} is not fixed: {dropped.reason}", file=sys.stderr)
    if not options.diff:
        _print_report(result.report, options, texts, colours, fixed=len(result.fixed))
        return _status(result.report, options, bool(result.report.findings))
    for change in result.changes:
        for line in change.diff(texts.name(change.source.path)):
            sys.stdout.write(_painted(line, colours))
    if not options.quiet:
        sys.stdout.flush()
        print(would_fix(len(result.fixed), len(result.report.findings)), file=sys.stderr)
    _print_errors(result.report)
    return _status(result.report, options, bool(result.changes or result.report.findings))


def _print_report(report: Report, options: CheckOptions, texts: Texts, colours: Colours, fixed: int) -> None:
    if options.statistics:
        _print_all(statistics(report.findings, report.may_fix))
    elif options.output_format == "json":
        from torchrepro_lint.report.json_report import as_json

        print(as_json(report.findings, texts))
    else:
        from torchrepro_lint.report.text import concise, full

        write = full if options.output_format == "full" else concise
        for finding in report.findings:
            print(write(finding, texts, colours, report.may_fix(finding)))
    said = options.quiet or options.output_format == "json"
    if not said and not (report.errors and not report.findings):
        _print_all(summary(report.findings, report.may_fix, fixed))
    if not report.files_checked and not options.quiet:
        print("warning: no Python files under the given paths", file=sys.stderr)
    _print_errors(report)


def _print_all(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _print_errors(report: Report) -> None:
    sys.stdout.flush()
    for error in report.errors:
        print(f"torchrepro-lint: {error}", file=sys.stderr)


def _status(report: Report, options: CheckOptions, something: bool) -> int:
    if report.errors:
        return 2
    return int(something and not options.exit_zero)


def _painted(line: str, colours: Colours) -> str:
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    if body.startswith(("+++", "---")):
        return colours.strong(body) + end
    paint = {"+": colours.good, "-": colours.gone, "@": colours.note}.get(body[:1])
    return (paint(body) if paint else body) + end
