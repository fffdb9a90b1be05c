"""`torchrepro-lint repair train.py`: arguments in, an answer out, and with `--write` the fixed files."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser, path_named
from torchrepro_lint.console import PROGRAM, print_errors
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.report.colours import Colours, wants_colour
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.write import write_output
from torchrepro_lint.verify.devices import has_cuda, require_torch
from torchrepro_lint.verify.process_group import ended_in_order
from torchrepro_lint.verify.repair.fixer import Fixer
from torchrepro_lint.verify.repair.other_seed import other_seed
from torchrepro_lint.verify.repair.output import json_of, text
from torchrepro_lint.verify.repair.page import page
from torchrepro_lint.verify.repair.result import Ending, Repair
from torchrepro_lint.verify.repair.session import Session
from torchrepro_lint.verify.script import perturbations
from torchrepro_lint.verify.script.bench import ScriptOptions, bench
from torchrepro_lint.verify.script.entries import Header
from torchrepro_lint.verify.script.output.html_report import render
from torchrepro_lint.verify.script.result import Outcome
from torchrepro_lint.verify.shared_options import (
    add_jobs_option,
    add_run_options,
    add_script_options,
    script_words,
    split_at_dashes,
)

AGREED, LEFT, COULD_NOT, DEPENDS = 0, 1, 2, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. 0: two runs agree, as the script is or with the fixes; 1: a difference is left; 2: it could not
    be run, or not written; 3: plain runs agree, and the result still depends on what was varied.
    """
    ours, script = split_at_dashes(list(sys.argv[1:] if argv is None else argv))
    try:
        parser = parser_of_repair()
        options, unknown = parser.parse_known_args(ours)
        if unknown:
            parser.error(f"unrecognized arguments: {' '.join(unknown)}; arguments for the script follow --")
        require_torch()
        with ended_in_order():
            return _repair(options, script or [])
    except TorchReproLintError as error:
        print_errors([f"error: {error}"], f"{PROGRAM} repair")
        return COULD_NOT


def _repair(options: argparse.Namespace, arguments: list[str]) -> int:
    words = script_words(options)
    try:
        given = shlex.split(options.other_seed) if options.other_seed is not None else None
    except ValueError as error:
        raise TorchReproLintError(f"--other-seed: {error}") from None
    asked = ScriptOptions(
        command=(*words, *arguments),
        runs=options.runs,
        timeout=options.timeout,
        device=options.device,
        perturb=perturbations.named(options.perturb) if options.perturb else (),
        save=None,
        output_format=options.output_format,
        report=options.report,
        steps=options.steps,
        scratch=True,
        jobs=options.jobs,
        ranks=options.nproc_per_node,
    )
    cuda_is_there = options.device == "cuda" and has_cuda()
    with bench(asked, cuda_is_there, f"{PROGRAM} repair") as here:
        entry = Header(tuple(words), here.folder).script
        fixer = Fixer(here.folder, entry)
        seed = other_seed(asked.command, given, _declaring(entry))
        repair = Session(here, fixer, seed).repair()
    if options.write and repair.changes:
        refusals = fixer.write()
        repair = replace(repair, written=not refusals, refusals=refusals)
    if options.output_format == "json":
        print(json.dumps(json_of(repair), indent=2))
    else:
        print(text(repair, Colours(wants_colour("auto", sys.stdout, os.environ))))
    if options.report is not None:
        write_output(options.report, render(page(repair)))
    return _status(repair)


def _declaring(entry: Path | None) -> Iterator[Path]:
    """Where the script may declare its options: in its own file, then in the others of its project."""
    if entry is not None:
        yield entry
        try:
            yield from sorted(set(Projects({}).whole(entry)) - {entry})
        except TorchReproLintError:
            return


def _status(repair: Repair) -> int:
    if repair.refusals or repair.ending is Ending.COULD_NOT_RUN:
        return COULD_NOT
    if repair.ending is not Ending.LEFT:
        return AGREED
    return DEPENDS if repair.last.plain.outcome is Outcome.AGREED else LEFT


_USAGE = """\
torchrepro-lint repair [options] SCRIPT.py [-- ARGUMENT ...]
       torchrepro-lint repair [options] -m MODULE [-- ARGUMENT ...]"""

_DESCRIPTION = """\
Run a training script twice, find what makes the runs differ, take the linter's fix for it, and run again, until two \
runs agree or nothing is left that can be fixed:

  torchrepro-lint repair train.py -- --epochs 1

The script runs in scratch folders. The files stay as they are: the fixes are shown as a diff, and written with --write.

A fix is kept only if the script runs with it as before, if the runs agree further, and if it does what it did: as \
much work, no epoch like another, the same seeds, and other numbers for another seed."""

_EPILOG = """\
exit status:
  0  two runs agree, as the script is or with the fixes
  1  a difference is left
  2  could not be run, or not be written
  3  plain runs agree, and the result still depends on what --perturb has varied

A verdict covers the runs that were made. It does not prove that a program is deterministic."""


def parser_of_repair() -> ArgumentParser:
    """The options of the command."""
    parser = ArgumentParser(f"{PROGRAM} repair", _DESCRIPTION, _EPILOG, _USAGE)
    parser.add_argument("paths", nargs="*", type=path_named, metavar="SCRIPT", help="the script")
    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--write", action="store_true", help="write the fixed files; one that was saved meanwhile stays")
    fixes.add_argument(
        "--other-seed",
        metavar="ARGS",
        help='arguments that give the script another seed, such as "--seed 2"; by default, an option of the script '
        "whose name contains `seed` is used",
    )
    runs = parser.add_argument_group("runs")
    add_run_options(runs)
    add_script_options(runs)
    add_jobs_option(runs)
    return parser


if __name__ == "__main__":
    sys.exit(main())
