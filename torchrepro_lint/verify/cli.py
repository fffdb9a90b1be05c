"""`torchrepro-lint verify`: its options, and which of its forms is asked for."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.arguments import ArgumentParser, at_least, file_named, path_named, seconds
from torchrepro_lint.console import PROGRAM, print_errors
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.devices import DEVICES, has_cuda, require_torch
from torchrepro_lint.verify.fixtures.cli import COULD_NOT_RUN, verify_fixtures
from torchrepro_lint.verify.fixtures.fixture import is_fixture
from torchrepro_lint.verify.fixtures.suite import JOBS, TIMEOUT
from torchrepro_lint.verify.operations.cli import verify_operations
from torchrepro_lint.verify.process_group import ended_in_order
from torchrepro_lint.verify.script import perturbations

if TYPE_CHECKING:
    from torchrepro_lint.verify.script.experiment import Halves


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. 0: as claimed, or no difference observed; 1: not so; 2: something, or all, could not be run."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["compare"]:
            from torchrepro_lint.verify.script.cli import compare_main

            return compare_main(arguments[1:])
        ours, script = _split(arguments)
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


def _split(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """Our arguments, and those of the script that are after `--`; None where there is no `--`."""
    if "--" not in arguments:
        return arguments, None
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _is_script(paths: Sequence[Path]) -> bool:
    """Whether a path is a script of the user's own: a Python file that is not a fixture by its place and name."""
    return any(path.suffix == ".py" and not path.is_dir() and not is_fixture(path) for path in paths)


def _verify_script(options: argparse.Namespace, arguments: list[str]) -> int:
    # It brings the linter, for what that says of the place.
    from torchrepro_lint.verify.script.cli import ScriptOptions, verify_script

    paths = [str(path) for path in options.paths]
    words = ["-m", options.module] if options.module is not None else paths
    if len(words) != (1 if options.module is None else 2) or (options.module is not None and paths):
        raise TorchReproLintError("only one script can be run; its arguments follow --")
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

_NAMES = "\n".join(
    f"  {name:<10}{perturbation.about}" + (f" ({', '.join(perturbation.rules)})" if perturbation.rules else "")
    for name, perturbation in perturbations.PERTURBATIONS.items()
)
_PERTURBATIONS = f"""\
what --perturb can vary, and the rules about it:
{_NAMES}

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
    both.add_argument(
        "--runs",
        type=at_least(2),
        default=2,
        metavar="N",
        help="how often to run a program, each time in a fresh process (default: 2)",
    )
    both.add_argument(
        "--timeout",
        type=seconds,
        default=TIMEOUT,
        metavar="S",
        help=f"seconds after which a run and all its processes are stopped (default: {TIMEOUT:g}); "
        "--steps shortens a script's runs",
    )
    both.add_argument(
        "--device",
        choices=(*DEVICES, "all"),
        help="cpu hides GPUs; cuda keeps the GPU busy beside the program, to bring out what depends on timing; "
        "by default a script chooses its device itself, and fixtures run on all devices",
    )
    both.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    script = parser.add_argument_group("a script of your own")
    script.add_argument("-m", dest="module", metavar="MODULE", help="run a module, like python -m")
    script.add_argument(
        "--steps",
        type=at_least(1),
        metavar="N",
        help="end each run after N optimizer steps, as sys.exit would: for trainings that take long. Without an "
        "optimizer, N backward passes; where nothing is trained, N batches",
    )
    script.add_argument(
        "--nproc-per-node",
        type=at_least(1),
        default=0,
        metavar="N",
        help="start the script in N processes, as torchrun does on one machine, and compare rank by rank",
    )
    script.add_argument(
        "--scratch",
        action="store_true",
        help="run the script in a copy-on-write view of the working folder (Linux; else a copy), thrown away after "
        "each run, so that your checkpoints and logs are not overwritten",
    )
    script.add_argument(
        "--perturb", metavar="NAME,...", help="vary what should not matter, one thing at a time; `all` for all of them"
    )
    script.add_argument(
        "--resume-first",
        metavar="ARGS",
        help="arguments with which the script trains the first half and saves a checkpoint",
    )
    script.add_argument("--resume-with", metavar="ARGS", help="arguments with which it resumes from the checkpoint")
    script.add_argument("--report", type=file_named, metavar="FILE", help="write an HTML page with the details")
    script.add_argument(
        "--save", type=path_named, metavar="DIR", help="keep the recordings in this folder, for `verify compare`"
    )
    parser.add_argument(
        "--ops",
        action="store_true",
        help="run the operations of the table instead of programs (see --ops --help)",
    )
    both.add_argument(
        "--jobs",
        type=at_least(1),
        default=JOBS,
        metavar="N",
        help=f"how many runs are made at the same time (default: {JOBS}); of a script only where no run would meet "
        "another's files, and none uses a GPU",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
