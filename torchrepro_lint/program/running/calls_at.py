"""The call at a place: in the statement there, or in a lambda or comprehension that is part of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.call_index import NamedCall
from torchrepro_lint.program.running.guards import Place, place_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["call_at", "called_at", "is_in_comprehension", "with_inner_expressions"]


def call_at(ev: Evaluator, site: Site) -> NamedCall | None:
    """The call at a site, in the scope that it is directly in; None if something else is there."""
    place = place_of(ev, site)
    return _call_in(place) if place is not None else None


def called_at(place: Place) -> tree.Call | None:
    """The call at a place; None if something else is there."""
    found = _call_in(place)
    return found.call if found is not None else None


def is_in_comprehension(place: Place) -> bool:
    """Whether what is called at a place is called for each item of a comprehension."""
    found = _call_in(place)
    scope = found.scope if found is not None else place.scope
    while scope is not place.scope and scope.parent is not None:
        if isinstance(scope.node, tree.Comprehension):
            return True
        scope = scope.parent
    return False


def _call_in(place: Place) -> NamedCall | None:
    for scope in with_inner_expressions(place.scope):
        call = scope.call_at(place.site.number)
        if call is not None:
            return NamedCall(place.facts, scope, call, scope.path_at(call.site))
    return None


def with_inner_expressions(scope: Scope) -> Iterator[Scope]:
    """A scope, and those of the lambdas and comprehensions in its statements."""
    yield scope
    for inner in scope.children:
        if isinstance(inner.node, tree.Lambda | tree.Comprehension):
            yield from with_inner_expressions(inner)
