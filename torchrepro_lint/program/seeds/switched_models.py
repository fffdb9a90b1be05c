"""Which models a program puts into evaluation mode: another one may be the one that it evaluates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.classes import find_method, mro
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Site,
    Value,
    Values,
)
from torchrepro_lint.program.ops.tensor_values import is_network_class
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.running.callers import contexts, frame_without_callers
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.reach import Link

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Switched", "are_left", "switched_models"]

#: `eval` that is handed on, or called without an object.
_HANDED_ON: Final = re.compile(rb"\.eval\b(?!\s*\()|(?<![\w.])eval\s*\(\s*\)")


@dataclass(frozen=True, slots=True)
class Made:
    """An object, and the call of a function that makes a new one each time, where it comes from one."""

    value: Instance | ExternalObject
    by: Site | None

    def may_be(self, other: Made) -> bool:
        """Whether both may be one object."""
        if self.value.site is None or other.value.site is None:
            return True
        return self.value.site == other.value.site and (None in (self.by, other.by) or self.by == other.by)


@dataclass(frozen=True, slots=True)
class Switched:
    """A call of `eval`: the name by which its object is written, and the objects that this may be."""

    name: str
    objects: tuple[Made, ...]


def switched_models(run: EntryRun) -> tuple[Switched, ...] | None:
    """All that a program switches to evaluation mode, in the order of files and text; None where not all is known."""
    if run.finds(_HANDED_ON):
        return None
    found: list[Switched] = []
    program = run.program
    for path in sorted(run.files & program.project.mentioning("eval")):
        facts = program.facts(path)
        if facts is None:
            return None
        program.ev.begin_question()
        for one in program.once(("switched models", path), partial(_all_of_file, program, facts)):
            if one is None:
                return None
            found.append(one)
    return tuple(found)


def _all_of_file(program: Program, facts: ModuleFacts) -> tuple[Switched | None, ...]:
    return tuple(_of_file(program, facts))


def _of_file(program: Program, facts: ModuleFacts) -> Iterator[Switched | None]:
    """Those of one file; None for one of which the object is not known."""
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            match call:
                case tree.Call(func=tree.Attribute(value=owner, attr="eval"), args=()):
                    objects: dict[Made, None] = {}
                    for frame in contexts(program.ev, facts, scope):
                        made = _made(program, scope, owner, frame)
                        if made is None or program.ev.exhausted:
                            yield None
                            return
                        objects.update(dict.fromkeys(made))
                    if objects:
                        yield Switched(dotted_name(owner) or "another model", tuple(objects))


def _made(program: Program, scope: Scope, owner: tree.Expr, frame: Frame) -> tuple[Made, ...] | None:
    """The models that an expression may be; none for an object with an `eval` of its own, which says itself what it
    switches. None where it may be something else.
    """
    values = program.ev.values(owner, frame)
    found: list[Made] = []
    for value in ordered(values):
        match value:
            case Instance(cls=cls) if not is_network_class(program.ev, cls) and find_method(program.ev, cls, "eval"):
                continue
            case Instance(cls=cls) if find_method(program.ev, cls, "eval") is None:
                pass
            case ExternalObject(name=name) if not name.startswith("torch.") or name.startswith("torch.hub."):
                pass  # a network of a library; what torch makes may be a part of another one, or have one inside
            case _:
                return None
        found.append(Made(value, _maker(program, scope, owner, frame, value)))
    return tuple(found) if values else None


def _maker(
    program: Program, scope: Scope, node: tree.Expr, frame: Frame, value: Instance | ExternalObject
) -> Site | None:
    """The call of which a name is the result, where the function that it calls makes the object itself, anew."""
    call = scope.behind(node)
    if not isinstance(call, tree.Call) or value.site is None:
        return None
    for function in program.ev.values(call.func, frame):
        if not isinstance(function, FunctionValue) or not isinstance(function.node, tree.FunctionDef):
            return None
        made = call_at(program.ev, value.site)
        if function.node.decorators or made is None or made.scope is not program.ev.function_scope(function):
            return None
    return program.ev.site(call, frame)


def are_left(run: EntryRun, chain: Iterable[Link], switched: Iterable[Switched]) -> bool:
    """Whether none of the models that are called along a chain is one that the program switches to evaluation mode, or
    inside one: False also where that is not known.
    """
    called = _called(run, chain)
    return bool(called) and not any(
        one.may_be(model) or _may_hold(run, one.value, model.value)
        for each in switched
        for one in each.objects
        for model in called or ()
    )


def _called(run: EntryRun, chain: Iterable[Link]) -> list[Made] | None:
    """The models of the project that are called along a chain; None where one is not known, or is of another program
    that shares the code.
    """
    program = run.program
    found: list[Made] = []
    for link in chain:
        made = call_at(program.ev, link.site) if link.note.startswith("calls ") else None
        if made is None or link.frame is None:
            continue
        func = made.call.func
        for value in ordered(program.ev.values(func, link.frame)):
            match value:
                case MethodValue(receiver=Instance() as model) if isinstance(func, tree.Attribute):
                    owner: tree.Expr = func.value
                case Instance() as model:
                    owner = func
                case FunctionValue():
                    continue
                case ExternalObject() if found:
                    continue  # a part of it that a library has: of these none is switched alone
                case _:
                    return None
            if model.site is not None and model.site.path not in run.files:
                return None
            if is_network_class(program.ev, model.cls):
                found.append(Made(model, _maker(program, made.scope, owner, link.frame, model)))
    return found


def _may_hold(run: EntryRun, outer: Value, model: Value) -> bool:
    """Whether one object may have another one inside: it makes it, gets it when it is made, or has it set later."""
    ev = run.program.ev
    match outer, model:
        case (Instance(cls=cls), Instance()) if cls.node is model.cls.node:
            return False
        case (Instance() | ExternalObject(), Instance(site=Site() as site)):
            pass
        case _:
            return True
    if outer.arguments is None or _mentions(outer.arguments, site):
        return True
    if not isinstance(outer, Instance):
        return False
    place = call_at(ev, site)
    scope = place.scope if place is not None else None
    classes = {id(base.node) for base in mro(ev, outer.cls) if isinstance(base, ClassValue)}
    while scope is not None:
        if id(scope.node) in classes:
            return True
        scope = scope.parent
    return place is None or _is_given_later(run, outer, site)


def _mentions(arguments: Arguments, site: Site) -> bool:
    given = (*arguments.positional, *(values for _, values, _ in arguments.keywords))
    return any(
        isinstance(value, (Instance, ExternalObject))
        and (value.site == site or (value.arguments is not None and _mentions(value.arguments, site)))
        for values in given
        for value in values
    )


def _is_given_later(run: EntryRun, outer: Instance, site: Site) -> bool:
    """Whether a statement sets an attribute of an object to what was made at a place."""
    ev = run.program.ev
    for path in sorted(run.files):
        facts = run.program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            for store in scope.stores:
                if facts is None or not isinstance(store.target, tree.Attribute):
                    continue
                frame = frame_without_callers(ev, facts, scope)
                given = ev.values(store.value, frame)
                if _has(given, site) and _has(ev.values(store.target.value, frame), outer.site):
                    return True
    return False


def _has(values: Values, site: Site | None) -> bool:
    return any(isinstance(value, (Instance, ExternalObject)) and value.site == site for value in values)
