"""Loaders that take a sampler in one arm and shuffle in the other: the fix of the sampler alone mends half of the runs.

sampler = WeightedRandomSampler(weights, 64) if args.balanced else None
loader = make_loader(data, shuffle=sampler is None, sampler=sampler)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.fixes.loader_fix import loader_fix
from torchrepro_lint.program.evaluation.values import ExternalObject, Instance, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.seeds.seeding import has_generator
from torchrepro_lint.program.workers.global_draws import shuffles_itself

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["leaves_the_other_order"]


def leaves_the_other_order(program: Program, sampler: Site) -> bool:
    """Whether a loader that may be given the sampler which is made at a place, and shuffles where it is given none,
    keeps the order of the global generator: no safe fix gives it one of its own.
    """
    taking = (one for loaders in program.loader_sites for one in loaders if _may_take(one, sampler))
    return any(
        shuffles_itself(program, one) and not has_generator(one) and not _is_fixed(program, one) for one in taking
    )


def _may_take(loader: Loader, sampler: Site) -> bool:
    return any(
        isinstance(value, ExternalObject | Instance) and value.site == sampler for value in loader.value("sampler")
    )


def _is_fixed(program: Program, loader: Loader) -> bool:
    fix, _ = loader_fix(program, loader, init=False, generator=True, is_counted=True, anywhere=True)
    return fix is not None and fix.applicability is Applicability.SAFE
