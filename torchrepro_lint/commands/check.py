"""`torchrepro-lint [PATH ...]`: check, print, and the exit status."""

from __future__ import annotations

import gc
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from torchrepro_lint.console import StatusLine, print_errors, printable
from torchrepro_lint.diagnostics import Finding, TorchReproLintError
from torchrepro_lint.engine import CacheChoice, Report, RunOptions, check
from torchrepro_lint.report.colours import ColourChoice, Colours, wants_colour
from torchrepro_lint.report.formats import OutputFormat, is_for_people, says_notes, written
from torchrepro_lint.report.progress import Bar
from torchrepro_lint.report.repeated import without_repeated
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.summary import left_to_strict, statistics, statistics_json, statistics_text, summary
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.settings import SettingsOverride
from torchrepro_lint.source.root import absolute
from torchrepro_lint.toolkit import Toolkit

__all__ = ["CheckOptions", "print_all", "print_notices", "print_report", "run_check", "run_options", "status"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The arguments of the command. With `diff`, nothing is written; `fix_only` says nothing of what is left.
    `through_links`: files outside of the project that links in it lead to may be written. Without `jobs`, there may be
    one for each core. `quiet`: print nothing but findings and errors; `silent`: no findings either. `verbose`: say by
    which settings files are checked, in each round of a watch. `owns_process`: the process ends with the command.
    """

    paths: tuple[Path, ...] = (Path(),)
    override: SettingsOverride = field(default_factory=SettingsOverride)
    fix: bool = False
    diff: bool = False
    fix_only: bool = False
    show_fixes: bool = False
    exit_non_zero_on_fix: bool = False
    through_links: bool = False
    output_format: OutputFormat = "full"
    exit_zero: bool = False
    quiet: bool = False
    silent: bool = False
    verbose: bool = False
    statistics: bool = False
    colour: ColourChoice = "auto"
    jobs: int | None = None
    cache_folder: Path | None = None
    owns_process: bool = False

    @property
    def is_fixing(self) -> bool:
        """Whether fixes are made, or shown."""
        return self.fix or self.fix_only or self.diff


def run_check(options: CheckOptions, toolkit: Toolkit | None = None) -> int:
    """Check, print, and give the exit status: 0 nothing is left, 1 findings or changes to make, 2 a fault of the tool.

    TorchReproLintError where the paths or the settings are wrong.
    """
    if options.is_fixing:
        from torchrepro_lint.commands.fix import run_fix

        return run_fix(options, toolkit)
    colours = Colours(wants_colour(options.colour, sys.stdout, os.environ))
    kept_to_the_end = _without_final_collection() if options.owns_process else nullcontext()
    with kept_to_the_end, StatusLine.on(sys.stderr, shown=not options.quiet) as line:
        report = check(
            options.paths,
            options.override,
            toolkit=toolkit,
            run=run_options(options, line),
        )
    print_report(report, options, Texts(), colours, toolkit)
    return status(report, options, bool(report.everything))


@contextmanager
def _without_final_collection() -> Iterator[None]:
    """Around the last work of a process: the search for cycles would take all trees apart, now or when Python ends,
    for memory that nobody needs any more (a twelfth of a run's time on MONAI).
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()


def _cache_in(folder: Path | None) -> CacheChoice:
    """A cache in the folder that was named. If the folder cannot be written, nothing is cached, which is not an error;
    a path that is not a folder is one.
    """
    if folder is not None:
        with suppress(OSError):
            if not stat.S_ISDIR(folder.stat().st_mode):
                raise TorchReproLintError(f"{folder}: not a folder; --cache-dir expects the folder for cached results")
    return CacheChoice(absolute(folder) if folder is not None else None)


def run_options(options: CheckOptions, line: StatusLine) -> RunOptions:
    """How the command goes about its work: with progress on the line."""
    return RunOptions(options.jobs or _cores(), _cache_in(options.cache_folder), Bar(line))


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def print_report(
    report: Report,
    options: CheckOptions,
    texts: Texts,
    colours: Colours,
    toolkit: Toolkit | None,
    *,
    fixed: Sequence[Finding] = (),
    stream: TextIO | None = None,
) -> None:
    """Print findings, what is to be said of them and of the files, and errors. `fixed` are the findings that this run
    has fixed; `stream` is standard output where none is given.
    """
    for_people = is_for_people(options.output_format)
    left_out = left_to_strict(report.left, texts)
    once = without_repeated(report.everything, texts) if for_people else report.everything
    if options.silent:
        pass
    elif options.statistics:
        write = statistics_text if for_people else statistics_json
        print_all(write(statistics(report.everything, report.may_fix)), stream)
    else:
        rules = (toolkit or Toolkit()).all_rules
        # Other formats than that which is read from the top have a line for each, for the tools that read them.
        shown = once if options.output_format == "full" else report.everything
        profile = options.override.get("profile")
        reported = ReportInput(shown, texts, colours, report.may_fix, report.errors, rules, left_out, profile)
        print_all(written(options.output_format, reported), stream)
    nothing = not report.everything and (bool(report.errors) or not report.files_checked)
    if for_people and not options.quiet and not nothing:
        print_all(summary(report.everything, report.may_fix, fixed, report.known, left_out, once), stream)
    (stream or sys.stdout).flush()
    if not options.quiet:
        if not report.files_checked:
            print("warning: no Python files or notebooks under the given paths", file=sys.stderr)
        print_notices(report.notices, texts)
        if left_out is not None and not for_people and (options.statistics or not says_notes(options.output_format)):
            for line in left_out.splitlines():
                print(f"note: {line}", file=sys.stderr)
        if report.stale:
            records = "record of the baseline matches" if report.stale == 1 else "records of the baseline match"
            print(f"note: {report.stale} {records} no finding any more; --write-baseline drops them", file=sys.stderr)
    print_errors(report.errors)


def print_notices(notices: Iterable[tuple[Path, str]], texts: Texts) -> None:
    """Print remarks about files and folders, to standard error."""
    for path, notice in notices:
        print(f"warning: {texts.name(path)}: {printable(notice)}", file=sys.stderr)


def print_all(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Print lines, to standard output where no stream is given."""
    for line in lines:
        print(line, file=stream)


def status(report: Report, options: CheckOptions, something: bool) -> int:
    """The exit status; `something` says whether there is something to report."""
    if report.errors:
        return 2
    return int(something and not options.exit_zero)
