"""Where a fix writes the arguments that a loader lacks: in the call that makes it, or, where that may make something
else for another caller, in the `functools.partial` that brings the class.

    def build(make, images):
        return make(images)

    loader = build(partial(DataLoader, batch_size=4, worker_init_fn=seed_worker), images)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.fixes.placement import Declined
from torchrepro_lint.fixes.spread_options import keywords_in_spread
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.workers.partials import calls_loaders_alone, makes_one_loader, partial_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["WrittenAt", "written_at"]

_SHARED = "the `partial` may make several loaders: pass each a generator of its own"


@dataclass(frozen=True, slots=True)
class WrittenAt:
    """The call that a fix gives further arguments to, and the keywords that a `**` there may hold already. `shared`:
    why it can hold no generator, since several loaders would share it; empty where it can.
    """

    facts: ModuleFacts
    scope: Scope
    call: tree.Call
    may_hold: frozenset[str]
    shared: str = ""


def written_at(program: Program, loader: Loader, wanted: Sequence[str]) -> WrittenAt | Declined:
    """Where the arguments `wanted` are written for a loader, or why nowhere."""
    if loader.made_with is not None:
        beside = [one for one in program.loaders if one.site == loader.site]
        given = [name for name in wanted if any(not one.lacks(name) for one in beside)]
        if given:
            return Declined(f"what another caller passes to this call has {' and '.join(given)} already")
    is_base_call = isinstance(loader.call.func, tree.Attribute) and loader.call.func.attr == "__init__"
    if is_base_call or calls_loaders_alone(program, loader):
        return WrittenAt(loader.facts, loader.scope, loader.call, keywords_in_spread(program, loader))
    place = partial_of(program, loader)
    if place is None and loader.is_mapped:
        return Declined("`map` passes it nothing but the items: make the loaders in a comprehension")
    if place is None:
        return Declined("the call may make something else than a loader for another caller")
    if any(arg.keyword in wanted for arg in loader.call.args):
        return Declined("the call may make something else than a loader, and gives this argument itself")
    spreads = any(arg.star == "**" for arg in place.call.args)
    shared = "" if makes_one_loader(program, loader) and not loader.is_mapped else _SHARED
    return WrittenAt(place.facts, place.scope, place.call, frozenset(wanted if spreads else ()), shared)
