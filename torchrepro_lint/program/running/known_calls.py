"""The calls of well-known functions of libraries, in every frame in which they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    External,
    FunctionValue,
    MemberOf,
    MethodValue,
    Site,
    Value,
)
from torchrepro_lint.program.running.call_index import aliases_of
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers, may_be
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["KnownCall", "all_calls", "all_names", "asked_calls"]


@dataclass(frozen=True, slots=True, eq=False)
class KnownCall:
    """One call of the function or class `name`, in one frame. `arms` are the arms of its scope around it."""

    name: str
    call: tree.Call
    facts: ModuleFacts
    scope: Scope
    frame: Frame
    arms: ArmPath
    arguments: Arguments

    @property
    def site(self) -> Site:
        return Site(self.facts.path, self.call.site)


def all_calls(program: Program, names: frozenset[str]) -> Iterator[list[KnownCall]]:
    """The calls of any of `names` (canonical; a method with its type), grouped by place, in the order of the text."""
    for path in program.project.matching(_words(names)):
        yield from _in_file(program, path, names)


def all_names(program: Program, one: KnownCall) -> frozenset[str | None]:
    """Everything that the call is seen to call, whoever calls its scope; None stands for anything in the project. What
    cannot be followed is left out.
    """
    return frozenset(
        name
        for frame in contexts(program.ev, one.facts, one.scope)
        if program.ev.may_run(one.call.site, one.arms, frame)
        for value in program.ev.values(one.call.func, frame)
        if (name := _name(value)) is not None or isinstance(value, (FunctionValue, MethodValue, ClassValue))
    )


def asked_calls(program: Program, names: frozenset[str], *, others: bool = False) -> Iterator[list[KnownCall]]:
    """Those of `all_calls` in files whose findings are wanted; with `others`, in all files. Each group is a separate
    question.
    """
    words = _words(names)
    for path in program.project.matching(words) if others else program.asked_with(words):
        for group in _in_file(program, path, names):
            program.ev.begin_question()
            yield group


@cache
def _words(names: frozenset[str]) -> re.Pattern[bytes]:
    return any_word(last_parts(names))


def _in_file(program: Program, path: Path, names: frozenset[str]) -> list[list[KnownCall]]:
    return program.ev.remembered(("known-calls", path, names), lambda: _find(program, path, names), [])


def _find(program: Program, path: Path, names: frozenset[str]) -> list[list[KnownCall]]:
    ev = program.ev
    last = last_parts(names)
    facts = program.facts(path) if program.project.may_call_any(path, last) else None
    if facts is None:
        return []
    last |= aliases_of(facts, last)
    found: list[tuple[int, list[KnownCall]]] = []
    for scope in facts.walk_scopes():
        calls = [(call, arms) for call, arms in scope.calls if called_name(call.func) in last]
        for call, arms in calls:
            ev.begin_question()
            alone = frame_without_callers(ev, facts, scope)
            if not may_be(ev, call.func, alone, lambda value: _name(value) in names):
                continue
            group = [
                KnownCall(name, call, facts, scope, frame, arms, ev.arguments(call.args, frame))
                for frame in contexts(ev, facts, scope)
                if ev.may_run(call.site, arms, frame)
                for name in _names(program, call, frame)
                if name in names
            ]
            if group:
                found.append((call.site, group))
    return [group for _, group in sorted(found, key=lambda pair: pair[0])]


def _names(program: Program, call: tree.Call, frame: Frame) -> list[str]:
    """What is called, by canonical names."""
    found: dict[str, None] = {}
    for value in ordered(program.ev.values(call.func, frame)):
        name = _name(value)
        if name is not None:
            found.setdefault(name)
    return list(found)


def _name(value: Value) -> str | None:
    if isinstance(value, External):
        return canonical(value.name)
    return member_name(value) if isinstance(value, MemberOf) else None
