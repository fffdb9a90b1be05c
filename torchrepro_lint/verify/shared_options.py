"""Options that the commands which run a script have in common: `verify` and `repair`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from torchrepro_lint.arguments import at_least, file_named, seconds
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.devices import DEVICES
from torchrepro_lint.verify.fixtures.suite import JOBS, TIMEOUT
from torchrepro_lint.verify.script import perturbations

NAMES_OF_PERTURBATIONS = "\n".join(
    f"  {name:<10}{perturbation.about}" + (f" ({', '.join(perturbation.rules)})" if perturbation.rules else "")
    for name, perturbation in perturbations.PERTURBATIONS.items()
)


def split_at_dashes(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """Our arguments, and those of the script that are after `--`; None where there is no `--`."""
    if "--" not in arguments:
        return arguments, None
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def no_notebooks(words: Iterable[str]) -> None:
    """TorchReproLintError where one of the words is a notebook, which Python does not run."""
    for word in words:
        if word.endswith(".ipynb"):
            raise TorchReproLintError(f"{word}: a notebook; convert it first: jupyter nbconvert --to script {word}")


def script_words(options: argparse.Namespace) -> list[str]:
    """The script, or `-m` and the module. TorchReproLintError where it is not one."""
    paths = [str(path) for path in options.paths]
    words = ["-m", options.module] if options.module is not None else paths
    no_notebooks(words)
    if not words:
        raise TorchReproLintError("name a script to run, or -m and a module; its arguments follow --")
    if len(words) != (1 if options.module is None else 2) or (options.module is not None and paths):
        raise TorchReproLintError("only one script can be run; its arguments follow --")
    return words


def add_run_options(group: argparse._ArgumentGroup, devices: Sequence[str] = DEVICES) -> None:
    """How often a program runs, for how long, and on what."""
    group.add_argument(
        "--runs",
        type=at_least(2),
        default=2,
        metavar="N",
        help="how often to run a program, each time in a fresh process (default: 2)",
    )
    group.add_argument(
        "--timeout",
        type=seconds,
        default=TIMEOUT,
        metavar="S",
        help=f"seconds after which a run and all its processes are stopped (default: {TIMEOUT:g}); "
        "--steps shortens a script's runs",
    )
    group.add_argument(
        "--device",
        choices=devices,
        help="cpu hides GPUs; cuda keeps the GPU busy beside the program, to bring out what depends on timing; "
        "by default a script chooses its device itself" + (", and fixtures run on all devices" * ("all" in devices)),
    )
    group.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")


def add_jobs_option(group: argparse._ArgumentGroup) -> None:
    """How many runs are made beside each other."""
    group.add_argument(
        "--jobs",
        type=at_least(1),
        default=JOBS,
        metavar="N",
        help=f"how many runs are made at the same time (default: {JOBS}); of a script only where no run would meet "
        "another's files, and none uses a GPU",
    )


def add_script_options(group: argparse._ArgumentGroup) -> None:
    """How a script is started, and how far it runs."""
    group.add_argument("-m", dest="module", metavar="MODULE", help="run a module, like python -m")
    group.add_argument(
        "--steps",
        type=at_least(1),
        metavar="N",
        help="end each run after N optimizer steps, as sys.exit would: for trainings that take long. Without an "
        "optimizer, N backward passes; where nothing is trained, N batches",
    )
    group.add_argument(
        "--nproc-per-node",
        type=at_least(1),
        default=0,
        metavar="N",
        help="start the script in N processes, as torchrun does on one machine, and compare rank by rank",
    )
    group.add_argument(
        "--perturb", metavar="NAME,...", help="vary what should not matter, one thing at a time; `all` for all of them"
    )
    group.add_argument("--report", type=file_named, metavar="FILE", help="write an HTML page with the details")
