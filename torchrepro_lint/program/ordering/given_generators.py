"""Generators that the project puts into objects of libraries after they are made: `self.sampler.generator = g`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import ExternalObject, MemberOf, Site, Value, Values
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["generators_given_to", "given_generators", "is_given"]

_ATTRIBUTE: Final = "generator"
_GIVES: Final = re.compile(rb"\.generator\s*=(?!=)")


def given_generators(program: Program) -> Mapping[Site, frozenset[Site]]:
    """Where the objects are made into which the project puts a generator, each with where those generators are made."""
    return program.ev.of_project("given-generators", lambda: _find(program), {})


def is_given(value: Value) -> bool:
    """Whether a value is the attribute of a library's object that may hold a generator of the project."""
    return isinstance(value, MemberOf) and value.attr == _ATTRIBUTE and isinstance(value.receiver, ExternalObject)


def generators_given_to(program: Program, value: Value) -> frozenset[Site]:
    """Where the generators are made that such an attribute holds."""
    if isinstance(value, MemberOf) and is_given(value):
        holder = value.receiver
        if isinstance(holder, ExternalObject) and holder.site is not None:
            return given_generators(program).get(holder.site, frozenset())
    return frozenset()


def _find(program: Program) -> Mapping[Site, frozenset[Site]]:
    ev = program.ev
    found: dict[Site, frozenset[Site]] = {}
    for path in program.project.matching(_GIVES):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for store in scope.stores:
                if isinstance(store.target, tree.Attribute) and store.target.attr == _ATTRIBUTE:
                    for frame in contexts(ev, facts, scope):
                        made = frozenset(_made(ev.values(store.value, frame)))
                        for holder in _made(ev.values(store.target.value, frame)):
                            found[holder] = found.get(holder, frozenset()) | made
    return found


def _made(values: Values) -> list[Site]:
    return [value.site for value in values if isinstance(value, ExternalObject) and value.site is not None]
