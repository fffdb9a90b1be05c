"""Classes of data sets that serve an evaluation alone, by their names or by the loaders that get their objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Instance, Site, Values
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.workers.global_draws import is_of_an_evaluation

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_made_for_evaluations", "is_of_an_evaluation_class", "sites_of"]

_EVALUATES: Final = function_words("evaluation_classes")
#: How many objects of a class of data sets are looked at.
_MOST_MADE: Final = 8


def is_of_an_evaluation_class(program: Program, site: Site) -> bool:
    """Whether the class around a place is, by its name, one of data for an evaluation: `FacesTest`."""
    place = place_of(program.ev, site)
    scope = place.scope if place is not None else None
    while scope is not None and not isinstance(scope.node, tree.ClassDef):
        scope = scope.parent
    return scope is not None and _EVALUATES.search(scope.name) is not None and "Train" not in scope.name


def is_made_for_evaluations(program: Program, site: Site) -> bool:
    """Whether each object of the class around a place is what a loader is given, and all these loaders are of an
    evaluation, beside loaders that are not.
    """
    place = place_of(program.ev, site)
    cls = class_of_method(program.ev, place.facts, place.scope) if place is not None else None
    made = making_places(program.ev, cls, _MOST_MADE + 1) if cls is not None else ()
    if not made or len(made) > _MOST_MADE:
        return False
    sites = {Site(call.facts.path, call.call.site) for call in made}
    given = [(loader, sites_of(loader.value("dataset")) & sites) for loader in program.loaders]
    if sites != set().union(*(found for _, found in given)):
        return False
    others = [loader for loader, found in given if not is_of_an_evaluation(program, loader)]
    return bool(others) and not any(found for loader, found in given if loader in others)


def sites_of(values: Values) -> set[Site]:
    """Where the objects of a project's classes among some values are made."""
    return {value.site for value in values if isinstance(value, Instance) and value.site is not None}
