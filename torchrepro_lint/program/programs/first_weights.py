"""Draws that make the first weights of a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.classes import external_bases, has_unknown_base
from torchrepro_lint.program.evaluation.values import ClassValue, Site
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["brings_weights", "building_calls", "built_at", "draws_weights", "is_of_a_model", "part_drawn"]

_INITIALISES: Final = function_words("initialises")
#: What draws when a layer, or a function of one, is run.
_RUNS = re.compile(r"\.__call__$|^torch\.nn\.functional\.")
#: The arguments of torchvision's models that bring trained weights.
_GIVEN_WEIGHTS = ("pretrained", "weights")


def draws_weights(event: Event) -> bool:
    """Whether a draw makes the first weights of a model."""
    if function_words("builds_weights").match(event.name):
        return True
    if not event.name.startswith("torch.") or _RUNS.search(event.name):
        return False
    scope = event.frame.scope if event.frame is not None else None
    if scope is not None and _INITIALISES.fullmatch(scope.name) is not None:
        return True
    return any(link.note.endswith(".__init__") for link in event.chain)


def is_of_a_model(program: Program, event: Event) -> bool:
    """Whether a draw that makes weights, as far as `draws_weights` tells, is of a layer or in what may be a model, and
    not in the constructor of a data set.
    """
    if function_words("builds_weights").match(event.name):
        return True
    made = [link.site for link in event.chain if link.note.endswith(".__init__")]
    return not made or any(_is_of_module(program, site) for site in made)


def brings_weights(event: Event) -> bool:
    """Whether a model of a library gets trained weights, so that nothing of its first ones is left."""
    if not event.name.startswith("torchvision."):
        return False
    return bool(event.arguments.positional) or any(event.arguments.keyword(name) is not None for name in _GIVEN_WEIGHTS)


def built_at(program: Program, event: Event) -> Site:
    """Where to report a draw: for the weights of a model of the project, where that is built."""
    if draws_weights(event):
        for link, inner in zip(event.chain, event.chain[1:], strict=False):
            if (
                inner.note.endswith(".__init__")
                and link.note.startswith("calls ")
                and _is_of_module(program, inner.site)
            ):
                return link.site
    return event.site


def building_calls(program: Program, event: Event) -> tuple[Site, ...]:
    """The calls on the way to where a model is built, from the outside in, and last the one that builds it."""
    built = built_at(program, event)
    sites: list[Site] = []
    for link in event.chain:
        if link.site == built:
            break
        if link.note.startswith("calls "):
            sites.append(link.site)
    return (*sites, built)


def part_drawn(program: Program, event: Event) -> tuple[Site, ...]:
    """The calls in the constructor of a model that build the part of it for which a draw makes the weights, from the
    outside in; empty where the draw is where the model is built.
    """
    built = built_at(program, event)
    if built == event.site:
        return ()
    calls = [link.site for link in event.chain if link.note.startswith("calls ")]
    inner = calls[calls.index(built) + 1 :] if built in calls else []
    return tuple(inner) or (event.site,)


def _is_of_module(program: Program, site: Site) -> bool:
    """Whether a constructor is of a model, as far as its class can be followed, and not of what holds one."""
    facts = program.facts(site.path)
    for scope in facts.walk_scopes() if facts is not None else ():
        if scope.node is not None and scope.node.site == site.number and facts is not None:
            around = scope.parent
            outer = around.parent if around is not None else None
            if around is None or outer is None or not isinstance(around.node, tree.ClassDef):
                return False
            cls = ClassValue(around.node, frame_without_callers(program.ev, facts, outer))
            bases = external_bases(program.ev, cls)
            return has_unknown_base(program.ev, cls) or any(function_words("is_a_model").match(one) for one in bases)
    return False
