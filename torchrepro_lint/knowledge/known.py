"""Whether a name is spoken of anywhere in knowledge."""

from __future__ import annotations

from functools import cache

from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.loaders import loader_class
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call

__all__ = ["is_known"]


@cache
def is_known(qualname: str) -> bool:
    """Whether a table of knowledge has exactly this name: what a star import of a library may bring."""
    return bool(
        loader_class(qualname) or external_callable(qualname) or rng_effects(qualname) or seeding_call(qualname)
    )
