"""What may be varied in a run although it must not matter, by name.

The parent asks `environment` what is to be set before Python starts, the watched process calls `apply` before the
script's first line. A perturbation is an entry of `PERTURBATIONS`; what it does in the process stands in a module of
its own (`listing`, `clock`, `loaders`).

One thing is varied at a time. So all runs of a command that perturbs have one `PYTHONHASHSEED`, except that of
`hashseed`: else every run would have another order of sets besides.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.settings import did_you_mean
from torchrepro_lint.verify.after_import import AfterImport
from torchrepro_lint.verify.script import clock, listing, loaders
from torchrepro_lint.verify.script.entries import Kind

ALL = "all"
HASH_SEED = "PYTHONHASHSEED"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Perturbation:
    """One thing that is varied.

    `about` says what is varied and what is to stay as it is. `rules` are the codes of the rules about programs that
    depend on it. `compared` are the kinds of entries that must not change under it; None for all. `environment` gives
    the variables of a run (the unperturbed one is 0, so the first is 1). `patch` is called in the watched process, with
    the seed of the variation and what to call when it has taken effect; None where the environment is all, which takes
    effect in any program.
    """

    about: str
    rules: tuple[str, ...]
    compared: frozenset[Kind] | None = None
    environment: Callable[[int], Mapping[str, str]] = lambda run: {}
    patch: Callable[[int, Callable[[], None]], None] | None = None


def _hash_seed(run: int) -> dict[str, str]:
    given = os.environ.get(HASH_SEED, "")
    return {HASH_SEED: str((int(given) if given.isdecimal() else 0) + run)}


def _threads(run: int) -> dict[str, str]:
    given = os.environ.get(_THREADS[0], "")
    usual = int(given) if given.isdecimal() else os.cpu_count() or 1
    return dict.fromkeys(_THREADS, "1" if usual > 1 else "2")


def _when_loaders_are_imported(
    patch: Callable[[ModuleType, Callable[[], None]], None], seed: int, took_effect: Callable[[], None]
) -> None:
    sys.meta_path.insert(0, AfterImport({loaders.MODULE: lambda module: patch(module, took_effect)}))


PERTURBATIONS: dict[str, Perturbation] = {
    "hashseed": Perturbation(
        "another PYTHONHASHSEED: the order of sets of text and what hash() gives",
        ("TRL208", "TRL503"),
        environment=_hash_seed,
    ),
    "listing": Perturbation(
        "another order of directory listings: os.listdir, os.scandir, os.walk, glob, pathlib",
        ("TRL207",),
        patch=listing.permute,
    ),
    "workers": Perturbation(
        "one worker more in each DataLoader that has workers; what workers draw hangs on their number, unless it is "
        "seeded by the index",
        ("TRL101", "TRL110", "TRL201"),
        patch=functools.partial(_when_loaders_are_imported, loaders.add_a_worker),
    ),
    "eval": Perturbation(
        "one draw from torch's global RNG before each pass over a DataLoader but the first, as one more evaluation "
        "makes it; the batches are to stay",
        ("TRL201", "TRL202"),
        compared=frozenset({"batch"}),
        patch=functools.partial(_when_loaders_are_imported, loaders.draw_between_passes),
    ),
    "clock": Perturbation(
        f"the time of day, {clock.SHIFT // 86_400} days and some hours later: time and datetime",
        ("TRL503",),
        patch=clock.shift,
    ),
    "threads": Perturbation(
        "another number of threads for OpenMP, MKL and OpenBLAS, by the environment: 1, or 2 where it is 1",
        (),
        environment=_threads,
    ),
}


def named(names: str) -> tuple[str, ...]:
    """The perturbations that a list of names with commas between them stands for.

    Raises:
        TorchReproLintError: one of them is not known.
    """
    known = [ALL, *PERTURBATIONS]
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are: {', '.join(known)}"
            raise TorchReproLintError(f'"{name}" is not a perturbation{hint}')
    return tuple(PERTURBATIONS) if ALL in wanted else tuple(dict.fromkeys(wanted))


def environment(name: str | None, run: int) -> dict[str, str]:
    """What is to be set in the environment of a run before Python starts; `name` is None for the unperturbed run."""
    return _hash_seed(0) | dict(PERTURBATIONS[name].environment(run) if name is not None else {})


def apply(name: str, seed: int, took_effect: Callable[[], None]) -> None:
    """Put the variation in place. Called in the watched process before the script's first line.

    `took_effect` is called once: at once where nothing is patched, else when the program first meets what is varied.
    """
    once = functools.cache(took_effect)
    patch = PERTURBATIONS[name].patch
    if patch is None:
        once()
    else:
        patch(seed, once)
