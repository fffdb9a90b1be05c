"""`torchrepro-lint [PATH ...]`: check, mend, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from torchrepro_lint.console import PassingLine, print_errors
from torchrepro_lint.engine import CacheChoice, Report, Toolkit, check
from torchrepro_lint.report.colours import ColourChoice, Colours, wants_colour
from torchrepro_lint.report.formats import OutputFormat, is_for_people, written
from torchrepro_lint.report.places import place
from torchrepro_lint.report.progress import Bar
from torchrepro_lint.report.reported import Reported
from torchrepro_lint.report.summary import fix_summary, list_fixes, statistics, summary
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.settings import SettingsOverride

if TYPE_CHECKING:
    from torchrepro_lint.fix_loop import FixReport

__all__ = ["CheckOptions", "print_report", "run_check", "status"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The arguments of the command. With `diff`, nothing is written; `fix_only` says nothing of what is left. Without
    `jobs`, there may be one for each core.
    """

    paths: tuple[Path, ...] = (Path(),)
    override: SettingsOverride = field(default_factory=SettingsOverride)
    fix: bool = False
    diff: bool = False
    fix_only: bool = False
    show_fixes: bool = False
    exit_non_zero_on_fix: bool = False
    output_format: OutputFormat = "full"
    exit_zero: bool = False
    quiet: bool = False
    statistics: bool = False
    colour: ColourChoice = "auto"
    jobs: int | None = None
    cache_folder: Path | None = None


def run_check(options: CheckOptions, toolkit: Toolkit | None = None) -> int:
    """Check, print, and give the exit status: 0 nothing is left, 1 findings or changes to make, 2 a fault of the tool.

    TorchReproLintError where the paths or the settings are wrong.
    """
    colours = Colours(wants_colour(options.colour, sys.stdout, os.environ))
    if options.fix or options.fix_only or options.diff:
        return _repair(options, colours, toolkit)
    cache = CacheChoice(options.cache_folder.absolute() if options.cache_folder is not None else None)
    with PassingLine.on(sys.stderr, shown=not options.quiet) as line:
        report = check(
            options.paths,
            options.override,
            toolkit=toolkit,
            jobs=options.jobs or cores(),
            cache=cache,
            told=Bar(line),
        )
    print_report(report, options, Texts(), colours, toolkit)
    return status(report, options, bool(report.findings))


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _repair(options: CheckOptions, colours: Colours, toolkit: Toolkit | None) -> int:
    from torchrepro_lint.fix_loop import fix

    jobs = options.jobs or cores()
    result = fix(options.paths, options.override, write=not options.diff, toolkit=toolkit, jobs=jobs)
    texts = Texts({change.source.path: change.text for change in result.changes} if options.diff else {})
    silent = options.diff or options.fix_only
    if silent or options.output_format != "full":
        _print_dropped(result, texts)
    for change in result.changes if options.diff else ():
        for line in change.diff(texts.name(change.source.path)):
            sys.stdout.write(_painted(line, colours))
    # Beside a diff, or what a program reads, standard output is not ours to write on.
    stream = sys.stdout if is_for_people(options.output_format) and not options.diff else sys.stderr
    sys.stdout.flush()
    if options.show_fixes and not options.quiet:
        _print_all(list_fixes(result.fixed, texts, written=not options.diff), stream)
    if not silent:
        print_report(result.report, options, texts, colours, toolkit, fixed=len(result.fixed))
    else:
        if not options.quiet:
            line = fix_summary(
                len(result.fixed), result.report.findings, result.report.may_fix, written=not options.diff
            )
            print(line, file=stream)
        print_errors(result.report.errors)
    left = bool(result.report.findings) and not options.fix_only
    changed = bool(result.changes) and (options.diff or options.exit_non_zero_on_fix)
    return status(result.report, options, left or changed)


def _print_dropped(result: FixReport, texts: Texts) -> None:
    for dropped in result.dropped:
        where = place(dropped.finding.location, texts).text
        print(f"{where}: {dropped.finding.code} fix declined: {dropped.reason}", file=sys.stderr)


def print_report(
    report: Report,
    options: CheckOptions,
    texts: Texts,
    colours: Colours,
    toolkit: Toolkit | None,
    *,
    fixed: int = 0,
    stream: TextIO | None = None,
) -> None:
    """Print findings, what is to be said of them and of the files, and errors. `fixed` are the findings that this run
    has mended; `stream` is standard output where none is given.
    """
    for_people = options.statistics or is_for_people(options.output_format)
    if options.statistics:
        _print_all(statistics(report.findings, report.may_fix), stream)
    else:
        rules = (toolkit or Toolkit()).sorted_rules
        reported = Reported(report.findings, texts, colours, report.may_fix, report.errors, rules)
        _print_all(written(options.output_format, reported), stream)
    if for_people and not options.quiet and not (report.errors and not report.findings):
        _print_all(summary(report.findings, report.may_fix, fixed, report.known), stream)
    (stream or sys.stdout).flush()
    if not options.quiet:
        if not report.files_checked:
            print("warning: no Python files or notebooks under the given paths", file=sys.stderr)
        for path, notice in report.notices:
            print(f"warning: {texts.name(path)}: {notice}", file=sys.stderr)
        if report.stale:
            records = "record of the baseline is" if report.stale == 1 else "records of the baseline are"
            print(f"note: {report.stale} {records} not found any more; --write-baseline drops them", file=sys.stderr)
    print_errors(report.errors)


def _print_all(lines: Iterable[str], stream: TextIO | None = None) -> None:
    for line in lines:
        print(line, file=stream)


def status(report: Report, options: CheckOptions, something: bool) -> int:
    """The exit status; `something` says whether there is something to report."""
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
