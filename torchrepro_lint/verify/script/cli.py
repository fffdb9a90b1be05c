"""`torchrepro-lint verify train.py` and `torchrepro-lint verify compare A B`: arguments in, an answer out."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser, file_named
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.report.colours import Colours, wants_colour
from torchrepro_lint.source.write import write_output
from torchrepro_lint.verify.script.bench import ScriptOptions, bench
from torchrepro_lint.verify.script.findings import PATIENCE, Link, link
from torchrepro_lint.verify.script.offline import compare_records
from torchrepro_lint.verify.script.output.html_report import render
from torchrepro_lint.verify.script.output.json_output import as_json
from torchrepro_lint.verify.script.output.report_page import page_of
from torchrepro_lint.verify.script.output.text import text
from torchrepro_lint.verify.script.record import read_record
from torchrepro_lint.verify.script.result import Outcome, Result
from torchrepro_lint.verify.script.time_limit import TooLong

AGREED, DIFFERED, COULD_NOT_RUN, DEPENDS = 0, 1, 2, 3


def verify_script(options: ScriptOptions, cuda_is_there: bool) -> int:
    """Run the script and print the answer. 0: no difference observed; 1: plain runs differed; 2: could not be run;
    3: plain runs agreed, and the result depends on what was varied.

    Raises:
        TorchReproLintError: there is no such script, or no place for the recordings.
    """
    with bench(options, cuda_is_there, f"{PROGRAM} verify") as here:
        experiment, progress = here.experiment(), here.progress
        results = [experiment.plain(options.runs)]
        # Where the script does not agree with itself, nothing can be said of what else it depends on.
        if results[0].outcome is Outcome.AGREED:
            reference = results[0].runs[0]
            results += experiment.varied(options.perturb, reference, options.halves)
        if any(result.outcome is Outcome.DIFFERED for result in results):
            progress.show_linter()
        answers = [(result, _link(result)) for result in results]
    unvaried = "nothing was varied: the runs must agree as they are before anything can be said of what they depend on"
    remarks = [unvaried] if options.perturb and results[0].outcome is Outcome.DIFFERED else []
    _print(answers, options.output_format, remarks)
    if options.report is not None:
        write_output(options.report, render(page_of(answers)))
    if options.save is not None and options.output_format == "text":
        print(f"\n{_kept(options.save, results)}")
    return _status(results)


def _kept(folder: Path, results: Sequence[Result]) -> str:
    """Where the recordings are, and what to compare: for the first difference, the two that show its cause."""
    full = next((result.full_runs for result in results if result.full_runs), ())
    if not full:
        return f"The recordings are in {folder}; `{PROGRAM} verify compare A B` compares two of them."
    names = shlex.join(str(folder / run.path.name) for run in full)
    return f"The recordings are in {folder}; `{PROGRAM} verify compare {names}` shows this difference again."


def compare_main(arguments: Sequence[str]) -> int:
    """Compare two recordings that were saved. 0: no difference; 1: they differ; 2: there is nothing to compare."""
    parser = ArgumentParser(
        f"{PROGRAM} verify compare",
        "Show where two saved recordings of a script first differ. Nothing is run, and torch is not needed.",
        "exit status: 0 no difference, 1 the recordings differ, 2 a file is not a recording, or nothing to compare",
    )
    parser.add_argument("first", type=file_named, metavar="A", help="a recording that `verify --save` has written")
    parser.add_argument("second", type=file_named, metavar="B", help="another one, perhaps of another machine")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    options = parser.parse_args(arguments)
    result = compare_records(read_record(options.first), read_record(options.second), (options.first, options.second))
    _print([(result, _link(result))], options.output_format)
    return _status([result])


def _link(result: Result) -> Link | None:
    try:
        return link(result)
    except TooLong:
        print(
            f"warning: the linter did not come to an end within {PATIENCE:g} s, so the answer goes without its finding",
            file=sys.stderr,
        )
        return None


def _status(results: Sequence[Result]) -> int:
    outcomes = {result.outcome for result in results}
    if Outcome.DIFFERED in outcomes:
        return DIFFERED if any(one.outcome is Outcome.DIFFERED and not one.depends for one in results) else DEPENDS
    return COULD_NOT_RUN if Outcome.COULD_NOT_RUN in outcomes else AGREED


def _print(answers: Sequence[tuple[Result, Link | None]], output_format: str, remarks: Sequence[str] = ()) -> None:
    if output_format == "json":
        print(json.dumps([as_json(result, found) for result, found in answers], indent=2))
        return
    colours = Colours(wants_colour("auto", sys.stdout, os.environ))
    print(text(answers, colours, remarks))
