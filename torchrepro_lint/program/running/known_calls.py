"""The calls of well-known functions of libraries, in every frame in which they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.arguments import merged
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
    Partial,
    Site,
    Value,
)
from torchrepro_lint.program.running.call_index import NamedCall, aliases_of
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers, may_be
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["KnownCall", "all_calls", "all_names", "asked_calls"]

_NO_ARGUMENTS: Final = Arguments()
#: Through how many names an object is followed back to the call that gives it.
_MAX_NAMES: Final = 4
#: The kinds of bindings that give a name the value of an expression, or an element of it.
_KINDS_OF_VALUES: Final = ("assign", "context", "element")


@dataclass(frozen=True, slots=True, eq=False)
class KnownCall:
    """One call of the function or class `name`, in one frame. `arms` are the arms of its scope around it."""

    name: str
    call: tree.Call
    frame: Frame
    arms: ArmPath
    arguments: Arguments

    @property
    def facts(self) -> ModuleFacts:
        """What the file says that the call is in."""
        return self.frame.facts

    @property
    def scope(self) -> Scope:
        """The function, class or module that the call is in."""
        return self.frame.scope

    @property
    def site(self) -> Site:
        """The place of the call."""
        return Site(self.facts.path, self.call.site)


def all_calls(program: Program, names: frozenset[str]) -> Iterator[list[KnownCall]]:
    """The calls of any of `names` (canonical; a method with its type), grouped by place, in the order of the text."""
    for path in program.project.matching(_words(names)):
        for one in _in_file(program, path, names):
            if group := _known_calls(program, one, names):
                yield group


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


def asked_calls(
    program: Program,
    names: frozenset[str],
    *,
    others: bool = False,
    unless: Callable[[Site], bool] = lambda site: False,
) -> Iterator[list[KnownCall]]:
    """Those of `all_calls` in files whose findings are wanted; with `others`, in all files. Each group is a separate
    question. For calls at places that `unless` holds of, nobody looks who makes them.
    """
    words = _words(names)
    for path in program.project.matching(words) if others else program.asked_with(words):
        for one in _in_file(program, path, names):
            if unless(Site(path, one.call.site)):
                continue
            if group := _known_calls(program, one, names):
                program.ev.begin_question()
                yield group


@cache
def _words(names: frozenset[str]) -> re.Pattern[bytes]:
    return any_word(last_parts(names))


def _in_file(program: Program, path: Path, names: frozenset[str]) -> list[NamedCall]:
    """The calls in a file that may be of any of `names`, as far as is told without their callers."""
    return program.ev.on_its_own(("named-calls", path, names), lambda: _find(program, path, names), [])


def _find(program: Program, path: Path, names: frozenset[str]) -> list[NamedCall]:
    ev = program.ev
    last = last_parts(names)
    facts = program.facts(path) if program.project.may_call_any(path, last) else None
    if facts is None:
        return []
    last |= aliases_of(facts, last)
    of_modules = _of_modules(names)
    found: list[NamedCall] = []
    for scope in facts.walk_scopes():
        for call, arms in scope.calls:
            if (called := called_name(call.func)) not in last:
                continue
            if called in of_modules and _is_of_an_object(scope, call.func):
                continue
            ev.begin_question()
            alone = frame_without_callers(ev, facts, scope)
            if may_be(ev, call.func, alone, lambda value: any(name in names for name, _ in _behind(value))):
                found.append(NamedCall(facts, scope, call, arms))
    return sorted(found, key=lambda one: one.call.site)


@cache
def _of_modules(names: frozenset[str]) -> frozenset[str]:
    """The last parts of names of a package's own functions, as in `torch.save`, and of nothing deeper: that may belong
    to an object of a class, or to what a call gives, `multiprocessing.get_context().Process`.
    """
    deeper = frozenset(name for name in names if name.count(".") > 1)
    return last_parts(names - deeper) - last_parts(deeper)


def _is_of_an_object(scope: Scope, func: tree.Expr) -> bool:
    """Whether a callee is, as it is written, a method of what a call gives, and no function of a module:
    `image.save(...)` where `image = network(noise)`. To find out what that call gives may take long.

    A function that gives a module says so in its name: `torch, _ = try_import_torch()`.
    """
    return isinstance(func, tree.Attribute) and _comes_from_a_call(scope, func.value, _MAX_NAMES)


def _comes_from_a_call(scope: Scope, node: object, names: int) -> bool:
    """Whether an expression is part of what a call gives, also through as many names."""
    match node:
        case tree.Attribute(value=value) | tree.Subscript(value=value) | tree.Await(value=value):
            return _comes_from_a_call(scope, value, names)
        case tree.Call(func=func):
            return "import" not in (called_name(func) or "import")
        case tree.Name(id=name) if names:
            home = scope.binder(name)
            return home is not None and all(
                one.kind in _KINDS_OF_VALUES and _comes_from_a_call(home, one.node, names - 1)
                for one in home.bindings[name]
            )
    return False


def _known_calls(program: Program, one: NamedCall, names: frozenset[str]) -> list[KnownCall]:
    """What the call is in each frame in which it runs, where it is of any of `names`."""
    key = ("known-calls", id(one.call), names)
    return program.ev.on_its_own(key, lambda: _find_known_calls(program, one, names), [])


def _find_known_calls(program: Program, one: NamedCall, names: frozenset[str]) -> list[KnownCall]:
    ev = program.ev
    facts, scope, call, arms = one
    ev.begin_question()
    return [
        KnownCall(name, call, frame, arms, merged(ahead, ev.arguments(call.args, frame)))
        for frame in contexts(ev, facts, scope)
        if ev.may_run(call.site, arms, frame)
        for name, ahead in _called(program, call, frame).items()
        if name in names
    ]


def _called(program: Program, call: tree.Call, frame: Frame) -> dict[str, Arguments]:
    """What is called, by canonical names, with the arguments that a `functools.partial` around it has ahead."""
    found: dict[str, Arguments] = {}
    for value in ordered(program.ev.values(call.func, frame)):
        for name, ahead in _behind(value):
            found.setdefault(name, ahead)
    return found


def _behind(value: Value, ahead: Arguments = _NO_ARGUMENTS) -> Iterator[tuple[str, Arguments]]:
    if isinstance(value, Partial):
        for function in ordered(value.function):
            yield from _behind(function, merged(value.arguments, ahead))
    elif (name := _name(value)) is not None:
        yield name, ahead


def _name(value: Value) -> str | None:
    if isinstance(value, External):
        return canonical(value.name)
    return member_name(value) if isinstance(value, MemberOf) else None
