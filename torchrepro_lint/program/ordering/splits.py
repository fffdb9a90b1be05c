"""All splits that are left to a global generator: each has a rule that is about it, and others leave it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ordering.numpy_splits import numpy_splits
from torchrepro_lint.program.ordering.samplers import unseeded_splits

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["split_sites"]


def split_sites(program: Program) -> frozenset[Site]:
    """The calls in all files of which TRL202 and TRL209 speak: a seed of their own fixes them, whatever the program
    seeds.
    """
    return program.ev.of_project("split-sites", lambda: _find(program), frozenset())


def _find(program: Program) -> frozenset[Site]:
    torch_splits = (one.call.site for one in unseeded_splits(program, others=True))
    return frozenset((*torch_splits, *(one.call.site for one in numpy_splits(program, others=True))))
