"""Listings of directories, and where their order goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.values import UNKNOWN, External, MemberOf, Site
from torchrepro_lint.program.ordering.order_flow import Sink, find_sink
from torchrepro_lint.program.running.callers import called_name, frame_without_callers, order_key

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Listing", "unsorted_listings"]

_WORDS: Final = re.compile(rb"(?<!\w)(?:listdir|scandir|iterdir|i?glob|rglob)(?!\w)")
_LAST: Final = frozenset({"listdir", "scandir", "iterdir", "glob", "iglob", "rglob"})


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """One listing whose order decides something. `lazy`: an iterator; `entries`: of objects that have no order."""

    name: str
    call: tree.Call
    facts: ModuleFacts
    lazy: bool
    entries: bool
    sink: Sink

    @property
    def site(self) -> Site:
        return Site(self.facts.path, self.call.site)


def unsorted_listings(program: Program) -> Iterator[Listing]:
    """The listings whose order goes, unsorted, into samples, a split or an index, in the order of files and text."""
    for path in program.project.matching(_WORDS):
        facts = program.facts(path)
        if facts is None:
            continue
        found: list[Listing] = []
        for scope in facts.walk_scopes():
            for call, arms in scope.calls:
                if called_name(call.func) not in _LAST:
                    continue
                program.ev.begin_question()
                frame = frame_without_callers(program.ev, facts, scope)
                name = _listing(program, facts, scope, call)
                sink = find_sink(program, facts, call) if name and program.ev.decide(arms, frame) is not False else None
                if name and sink is not None:
                    lazy = name not in ordering_names("listings")
                    found.append(Listing(name, call, facts, lazy, name in ordering_names("listings", "entries"), sink))
        yield from sorted(found, key=lambda one: one.call.site)


def _listing(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> str | None:
    """The name of the listing function; None for a call of something else."""
    known = ordering_names("listings") | ordering_names("listings", "lazy")
    word = called_name(call.func)
    values = program.ev.values(call.func, frame_without_callers(program.ev, facts, scope))
    for value in sorted(values, key=order_key):
        name = None
        if isinstance(value, External):
            name = canonical(value.name)
        elif isinstance(value, MemberOf):
            name = member_name(value)
        if name in known:
            return name
    if (UNKNOWN in values or not values) and isinstance(call.func, tree.Attribute) and call.func.attr != "listdir":
        # Most paths come from somewhere that cannot be followed; their methods have names of their own.
        if word in ordering_names("listings", "methods") or (word == "glob" and _imports_pathlib(facts)):
            return f"pathlib.Path.{word}"
    return None


def _imports_pathlib(facts: ModuleFacts) -> bool:
    for bindings in facts.scope.bindings.values():
        for binding in bindings:
            match binding.node:
                case tree.Import(module="pathlib") | tree.ImportFrom(module="pathlib", level=0):
                    return True
    return False
