"""`torchrepro-lint verify`: its options, and which of its forms is asked for."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.arguments import ArgumentParser, path_named
from torchrepro_lint.console import PROGRAM, print_errors
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.devices import DEVICES, has_cuda, require_torch
from torchrepro_lint.verify.fixtures.cli import COULD_NOT_RUN, verify_fixtures
from torchrepro_lint.verify.fixtures.fixture import is_fixture
from torchrepro_lint.verify.operations.cli import verify_operations
from torchrepro_lint.verify.process_group import ended_in_order
from torchrepro_lint.verify.script import perturbations
from torchrepro_lint.verify.shared_options import (
    NAMES_OF_PERTURBATIONS,
    add_jobs_option,
    add_run_options,
    add_script_options,
    script_words,
    split_at_dashes,
)

if TYPE_CHECKING:
    from torchrepro_lint.verify.script.experiment import Halves


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. 0: as claimed, or no difference observed; 1: not so; 2: something, or all, could not be run."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["compare"]:
            from torchrepro_lint.verify.script.cli import compare_main

            return compare_main(arguments[1:])
        ours, script = split_at_dashes(arguments)
        if "--ops" in ours:
            with ended_in_order():
                return verify_operations(ours)
        parser = _parser()
        options, unknown = parser.parse_known_args(ours)
        if unknown:
            parser.error(f"unrecognized arguments: {' '.join(unknown)}; arguments for the script follow --")
        require_torch()
        with ended_in_order():
            if options.module is not None or script is not None or _is_script(options.paths):
                return _verify_script(options, script or [])
            return verify_fixtures(options)
    except TorchReproLintError as error:
        print_errors([f"error: {error}"], f"{PROGRAM} verify")
        return COULD_NOT_RUN


def _is_script(paths: Sequence[Path]) -> bool:
    """Whether a path is a script of the user's own: a Python file that is not a fixture by its place and name."""
    return any(path.suffix == ".py" and not path.is_dir() and not is_fixture(path) for path in paths)


def _verify_script(options: argparse.Namespace, arguments: list[str]) -> int:
    # It brings the linter, for what that says of the place.
    from torchrepro_lint.verify.script.bench import ScriptOptions
    from torchrepro_lint.verify.script.cli import verify_script

    words = script_words(options)
    if options.device == "all":
        raise TorchReproLintError("--device all is for fixtures; a script takes --device cpu or cuda, or none")
    halves = _halves(options, words)
    if halves is not None and options.steps is not None:
        raise TorchReproLintError("--steps would end the halves of a resumed training as well; limit the script itself")
    return verify_script(
        ScriptOptions(
            command=(*words, *arguments),
            runs=options.runs,
            timeout=options.timeout,
            device=options.device,
            perturb=perturbations.named(options.perturb, halves is not None) if options.perturb else (),
            save=options.save,
            output_format=options.output_format,
            halves=halves,
            report=options.report,
            steps=options.steps,
            jobs=options.jobs,
            ranks=options.nproc_per_node,
            scratch=options.scratch,
        ),
        cuda_is_there=options.device == "cuda" and has_cuda(),
    )


def _halves(options: argparse.Namespace, words: list[str]) -> Halves | None:
    """The two commands that train in two halves; None where no options for them are given."""
    given = {"--resume-first": options.resume_first, "--resume-with": options.resume_with}
    missing = [name for name, text in given.items() if text is None]
    if len(missing) == len(given):
        return None
    if missing:
        raise TorchReproLintError(f"{missing[0]} is missing: a resumed training consists of two halves")
    try:
        first, second = (shlex.split(text) for text in given.values())
    except ValueError as error:
        raise TorchReproLintError(f"--resume-first, --resume-with: {error}") from None
    return (*words, *first), (*words, *second)


_USAGE = """\
torchrepro-lint verify [options] SCRIPT.py [-- ARGUMENT ...]
       torchrepro-lint verify [options] -m MODULE [-- ARGUMENT ...]
       torchrepro-lint verify compare A B
       torchrepro-lint verify [options] [FIXTURE ...]
       torchrepro-lint verify --ops [options]"""

_DESCRIPTION = """\
Run a training script twice, unchanged, and show where the runs first differ and why:

  torchrepro-lint verify train.py -- --epochs 1

The first runs record hashes of batches, losses and parameters. If two runs differ, the script runs again. That run \
records every operation and every random number of the step in question, and the first one that differs is shown.

`compare` compares two saved recordings, and needs no torch. Fixtures are compared with what their headers claim."""

_PERTURBATIONS = f"""\
what --perturb can vary, and the rules about it:
{NAMES_OF_PERTURBATIONS}

Each varied run is compared with the first. All runs have the same PYTHONHASHSEED, except that of `hashseed`. \
`resume` needs the script's own options:

  torchrepro-lint verify --perturb resume \\
    --resume-first "--epochs 1 --save c.pt" \\
    --resume-with "--epochs 2 --load c.pt" train.py -- --epochs 2"""

_EPILOG = f"""\
{_PERTURBATIONS}

exit status:
  0  no difference observed; fixtures: as claimed
  1  runs differ; fixtures: not as claimed
  2  could not be run
  3  plain runs agree, and the result depends on what --perturb has varied

A verdict covers the runs that were made. It does not prove that a program is deterministic."""


def _parser() -> ArgumentParser:
    parser = ArgumentParser(f"{PROGRAM} verify", _DESCRIPTION, _EPILOG, _USAGE)
    parser.add_argument(
        "paths",
        nargs="*",
        type=path_named,
        metavar="PATH",
        help="a script, or fixtures and folders of them (default: fixtures)",
    )
    both = parser.add_argument_group("runs")
    add_run_options(both, (*DEVICES, "all"))
    script = parser.add_argument_group("a script of your own")
    add_script_options(script)
    script.add_argument(
        "--scratch",
        action="store_true",
        help="run the script in a copy-on-write view of the working folder (Linux; else a copy), thrown away after "
        "each run, so that your checkpoints and logs are not overwritten",
    )
    script.add_argument(
        "--resume-first",
        metavar="ARGS",
        help="arguments with which the script trains the first half and saves a checkpoint",
    )
    script.add_argument("--resume-with", metavar="ARGS", help="arguments with which it resumes from the checkpoint")
    script.add_argument(
        "--save", type=path_named, metavar="DIR", help="keep the recordings in this folder, for `verify compare`"
    )
    parser.add_argument(
        "--ops",
        action="store_true",
        help="run the operations of the table instead of programs (see --ops --help)",
    )
    add_jobs_option(both)
    return parser


if __name__ == "__main__":
    sys.exit(main())
