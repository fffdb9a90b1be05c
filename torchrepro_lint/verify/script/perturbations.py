"""What may be varied in a run although it must not matter, by name.

The parent asks `environment` what is to be set before Python starts; in the watched process `vary` does the rest before
the script's first line.

One thing is varied at a time. So all runs of a command that perturbs have one `PYTHONHASHSEED`, except that of
`hashseed`: else every run would have another order of sets besides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torchrepro_lint.console import did_you_mean
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.script.entries import Kind
from torchrepro_lint.verify.script.perturb.clock import SHIFT

ALL = "all"
EVAL = "eval"
RESUME = "resume"
THREADS = "threads"
# Where the result depends on these, they are the cause, wherever it shows.
ITSELF_THE_CAUSE = {
    "hashseed": "PYTHONHASHSEED",
    "listing": "the order in which directories are listed",
    "clock": "the time of day",
}
# Where nothing that is drawn explains it, so is this.
CAUSE_WHERE_NOTHING_IS_DRAWN = {"workers": "the number of workers, by which a data set is split into batches"}
HASH_SEED = "PYTHONHASHSEED"
_FRESH_MEMORY = "MALLOC_PERTURB_"  # mallopt(3): glibc fills what it gives with this byte
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Perturbation:
    """One thing that is varied.

    `about` says what is varied and what is to stay as it is. `rules` are the codes of the rules about programs that
    depend on it. `compared` are the kinds of entries that must not change under it; None for all. `environment` gives
    the variables of a run (the unperturbed one is 0, so the first is 1).
    """

    about: str
    rules: tuple[str, ...]
    compared: frozenset[Kind] | None = None
    environment: Callable[[int], Mapping[str, str]] = lambda run: {}


def _hash_seed(run: int) -> dict[str, str]:
    given = os.environ.get(HASH_SEED, "")
    return {HASH_SEED: str((int(given) if given.isdecimal() else 0) + run)}


def _threads(run: int) -> dict[str, str]:
    given = os.environ.get(_THREAD_VARIABLES[0], "")
    usual = int(given) if given.isdecimal() else os.cpu_count() or 1
    return dict.fromkeys(_THREAD_VARIABLES, "1" if usual > 1 else "2")


def _memory(run: int) -> dict[str, str]:
    return {_FRESH_MEMORY: "42" if os.environ.get(_FRESH_MEMORY) != "42" else "43"}


PERTURBATIONS: dict[str, Perturbation] = {
    "hashseed": Perturbation(
        "another PYTHONHASHSEED: the order of sets of strings and the results of hash()",
        ("TRL208", "TRL214", "TRL503"),
        environment=_hash_seed,
    ),
    "listing": Perturbation(
        "another order of directory listings: os.listdir, os.scandir, os.walk, glob, pathlib",
        ("TRL207",),
    ),
    "workers": Perturbation(
        "one more worker in each DataLoader that has workers; what workers draw depends on their number, unless it is "
        "seeded by the index",
        ("TRL101", "TRL110", "TRL201"),
    ),
    EVAL: Perturbation(
        "one extra draw from torch's global RNG before each pass over a DataLoader except the first, like that of an "
        "additional evaluation; only batches are compared",
        ("TRL201", "TRL202", "TRL509"),
        compared=frozenset({"batch"}),
    ),
    "clock": Perturbation(
        f"the time of day, {SHIFT // 86_400} days and some hours later, in time and datetime",
        ("TRL503",),
    ),
    THREADS: Perturbation(
        "another number of threads for OpenMP, MKL and OpenBLAS, set in the environment: 1, or 2 if it is 1",
        (),
        environment=_threads,
    ),
    "memory": Perturbation(
        "what fresh memory holds on the CPU, by glibc's MALLOC_PERTURB_: parameters that nothing has initialised",
        ("TRL403",),
        environment=_memory,
    ),
    RESUME: Perturbation(
        "the training in two halves with a checkpoint in between, using the script's options given with "
        "--resume-first and --resume-with",
        ("TRL210", "TRL211"),
    ),
}


def is_the_cause(name: str, *, explained: bool) -> bool:
    """Whether a perturbation is the cause by itself of what it changes; `explained` says whether a draw is known."""
    return name in ITSELF_THE_CAUSE or (name in CAUSE_WHERE_NOTHING_IS_DRAWN and not explained)


def named(names: str, can_resume: bool = False) -> tuple[str, ...]:
    """The perturbations that a list of names with commas between them stands for.

    `can_resume` says whether the options for `resume` are given: without them it is not among `all`.

    Raises:
        TorchReproLintError: one of them is not known, or cannot be made.
    """
    known = [ALL, *PERTURBATIONS]
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are: {', '.join(known)}"
            raise TorchReproLintError(f'"{name}" is not a perturbation{hint}')
    if RESUME in wanted and not can_resume:
        raise TorchReproLintError(
            "resume needs --resume-first and --resume-with: the options with which the script trains the first half "
            "and saves a checkpoint, and those with which it continues from there"
        )
    possible = [name for name in PERTURBATIONS if can_resume or name != RESUME]
    return tuple(possible) if ALL in wanted else tuple(dict.fromkeys(wanted))


def environment(name: str | None, run: int) -> dict[str, str]:
    """What is to be set in the environment of a run before Python starts; `name` is None for the unperturbed run."""
    return _hash_seed(0) | dict(PERTURBATIONS[name].environment(run) if name is not None else {})
