"""Puts a perturbation in place, in the watched process. What it does is in `listing`, `clock` and `loaders`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from torchrepro_lint.verify.after_import import AfterImport
from torchrepro_lint.verify.script.perturb import clock, listing, loaders

Met = Callable[[], None]


def apply(name: str, seed: int, met: Met) -> None:
    """Put the perturbation in place, before the script's first line.

    `met` is called at once where the environment is all that is varied, else each time that the program meets what is.
    """
    if (patch := PATCHES.get(name)) is None:
        met()
    else:
        patch(seed, met)


def _when_loaders_are_imported(patch: Callable[[ModuleType, Met], None]) -> Callable[[int, Met], None]:
    def install(seed: int, met: Met) -> None:
        sys.meta_path.insert(0, AfterImport({loaders.MODULE: lambda module: patch(module, met)}))

    return install


PATCHES: dict[str, Callable[[int, Met], None]] = {
    "listing": listing.permute,
    "workers": _when_loaders_are_imported(loaders.add_a_worker),
    "eval": _when_loaders_are_imported(loaders.draw_between_passes),
    "clock": clock.shift,
}
