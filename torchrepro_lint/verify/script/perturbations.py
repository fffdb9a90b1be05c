"""What may be varied in a run although it must not matter, by name.

The parent asks `environment` what is to be set before Python starts, the watched process calls `apply` before the
script's first line. A perturbation is an entry of `PERTURBATIONS` with its two sides beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.script.entries import Kind

ALL = "all"


def _nothing_to_set(run: int) -> dict[str, str]:
    return {}


def _nothing_to_patch(seed: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Perturbation:
    """One thing that is varied.

    `about` says in a few words what. `rules` are the codes of the rules about programs that depend on it. `compared`
    are the kinds of entries that must not change under it; None for all. `environment` gives the variables of a run
    (the first is 1), `patch` is called in the watched process with the seed of the variation.
    """

    about: str
    rules: tuple[str, ...]
    compared: frozenset[Kind] | None = None
    environment: Callable[[int], Mapping[str, str]] = _nothing_to_set
    patch: Callable[[int], None] = _nothing_to_patch


PERTURBATIONS: dict[str, Perturbation] = {}


def named(names: str) -> tuple[str, ...]:
    """The perturbations that a list of names with commas between them stands for.

    Raises:
        TorchReproLintError: one of them is not known.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name != ALL and name not in PERTURBATIONS:
            known = ", ".join((ALL, *PERTURBATIONS))
            raise TorchReproLintError(f'"{name}" is not a perturbation; there are: {known}')
    return tuple(PERTURBATIONS) if ALL in wanted else tuple(dict.fromkeys(wanted))


def environment(name: str, run: int) -> dict[str, str]:
    """What is to be set in the environment of a run before Python starts."""
    return dict(PERTURBATIONS[name].environment(run))


def apply(name: str, seed: int) -> None:
    """Put the variation in place. Called in the watched process before the script's first line."""
    PERTURBATIONS[name].patch(seed)
