"""Which questions and values are about facts that nobody asks for any more: in all that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.frames import Frame

__all__ = ["is_about"]


def is_about(retired: Iterable[ModuleFacts]) -> Callable[[object], bool]:
    """Tells of the key of a question, a frame or a value whether it is made of any of these facts, or knows them, a
    scope or a node of theirs by its identity.
    """
    gone: set[int] = set()
    for facts in retired:
        gone.add(id(facts))
        gone.update(part for scope in facts.walk_scopes() for part in (id(scope), id(scope.node)))
    known: dict[int, bool] = {}  # values are inside many others

    def is_gone(part: object) -> bool:
        if isinstance(part, int):
            return part in gone
        place = id(part)
        if place in gone:
            return True
        if place not in known:
            known[place] = any(map(is_gone, _parts(part)))
        return known[place]

    return is_gone


def _parts(whole: object) -> Iterable[object]:
    match whole:
        case tuple() | frozenset():
            return whole
        case Frame(facts=facts, scope=scope, parent=parent, params=params):
            return facts, scope, parent, params
    key = getattr(whole, "key", ())  # of a value
    return key if isinstance(key, tuple) else ()
