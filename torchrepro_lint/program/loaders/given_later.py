"""What a loader is given after it is made, as an attribute: `loader.worker_init_fn = seed_worker`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope, Store
from torchrepro_lint.knowledge.loaders import Role
from torchrepro_lint.program.evaluation.arguments import merged
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    ExternalObject,
    Instance,
    Site,
    Values,
    unknown,
)
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.loaders.loaders import Loader

__all__ = ["with_what_is_given_later"]

#: Each place where an object is made, with what is assigned to the attribute, and where.
_GivenLater: TypeAlias = Mapping[Site, Sequence[tuple[Scope, Store, Values]]]
#: What a loader may be given after it is made, as its workers start when it is iterated over.
_GIVEN_LATER: Final[Role] = "worker_init_fn"
_GIVES_LATER: Final = re.compile(rb"\.worker_init_fn\s*=(?!=)")


def with_what_is_given_later(ev: Evaluator, loader: Loader) -> Loader:
    """The loader with the function that the project assigns to its attribute: `loader.worker_init_fn = seed_worker`.

    What an arm of an `if` assigns may be missing; whether other code runs before the workers start is not asked.
    """
    nothing: _GivenLater = {}
    name = loader.known.keywords.get(_GIVEN_LATER)
    found = ev.of_project("given-to-loaders", lambda: _given_later(ev), nothing).get(loader.made_by or loader.site)
    if name is None or found is None:
        return loader
    values, is_certain = frozenset(one for _, _, given in found for one in given), False
    for scope, store, _ in found:
        around = loader.scope.path_at(loader.call.site)
        arms = [arm for arm in store.path if arm not in around]
        if scope is not loader.scope or not all(isinstance(scope.branches.get(one), tree.If) for one, _ in arms):
            values |= unknown()
        is_certain = is_certain or (scope is loader.scope and not arms)
    if not is_certain:
        values |= loader.given(_GIVEN_LATER)[0] if UNKNOWN in values else loader.value(_GIVEN_LATER)
    given = Arguments((), ((name, values, True),))
    return replace(loader, arguments=merged(loader.arguments, given))


def _given_later(ev: Evaluator) -> _GivenLater:
    """What the project assigns to the attribute of objects that are made at these places. What a class assigns to that
    of `self` is left out: its objects are told by what reaches the loader's own `__init__`.
    """
    found: dict[Site, list[tuple[Scope, Store, Values]]] = {}
    for path in ev.project.matching(_GIVES_LATER):
        facts = ev.project.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for store in scope.stores:
                target = store.target
                if not isinstance(target, tree.Attribute) or target.attr != _GIVEN_LATER or store.unpack:
                    continue
                if isinstance(target.value, tree.Name) and target.value.id == scope.self_name:
                    continue
                for frame in contexts(ev, facts, scope):
                    given = ev.values(store.value, frame)
                    for value in ev.values(target.value, frame):
                        if isinstance(value, (ExternalObject, Instance)) and value.site is not None:
                            found.setdefault(value.site, []).append((scope, store, given))
    return found
