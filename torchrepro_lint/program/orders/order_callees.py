"""What a call may run, and where its arguments go in a function of the project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.attributes import external_bases, find_method
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    Partial,
    Site,
    Value,
)
from torchrepro_lint.program.orders.order_carriers import Carrier
from torchrepro_lint.program.orders.order_places import parameter_uses, scope_around
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.written_arguments import receiving_parameter

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["called", "function_of", "into_function", "names_called"]


def called(program: Program, carrier: Carrier, call: tree.Call) -> list[Value]:
    """What the call can call, in a stable order."""
    scope = scope_around(program, carrier.facts, call)
    frame = frame_without_callers(program.ev, carrier.facts, scope)
    return ordered(program.ev.values(call.func, frame))


def names_called(program: Program, values: Iterable[Value]) -> set[str]:
    """The names of what may be called, where it is something of a library."""
    names = {canonical(value.name) for value in values if isinstance(value, External)}
    names |= {canonical(f"{value.name}.__call__") for value in values if isinstance(value, ExternalObject)}
    return names | {name for value in values if isinstance(value, MemberOf) for name in _member_names(program, value)}


def _member_names(program: Program, member: MemberOf) -> Iterator[str]:
    """What a method is called: of something outside the project, or of the library's class below an own one."""
    if isinstance(member.receiver, Instance):
        bases = external_bases(program.ev, member.receiver.cls)
        yield from (canonical(f"{base}.{member.attr}") for base in bases)
        return
    name = member_name(member)
    if name is not None:
        yield name


def into_function(
    program: Program, carrier: Carrier, call: tree.Call, arg: tree.Arg, value: Value, at: Site | None = None
) -> Iterator[Carrier]:
    """From an argument to the reads of the parameter that gets it, where `value` is a function of the project."""
    given = 0
    while isinstance(value, Partial) and len(value.function) == 1:
        given += len(value.arguments.positional)
        (value,) = value.function
    function, bound = function_of(program, value)
    if function is None or not isinstance(function.node, tree.FunctionDef):
        return
    name = receiving_parameter(function.node, call, arg, skipped=given + bound)
    if name is None:
        return
    facts = function.frame.facts
    at = at or Site(carrier.facts.path, call.site)
    inside = replace(carrier, entered=(*carrier.entered, (function.node, carrier.facts, call)))
    for use in parameter_uses(program, facts, function.node, name):
        yield inside.hop(facts, use, at, f"passes it to {_label(value, function)}()")


def _label(value: Value, function: FunctionValue) -> str:
    return value.name if isinstance(value, ClassValue) else function.name


def function_of(program: Program, value: Value) -> tuple[FunctionValue | None, bool]:
    """The function of the project that runs where a value is called, and whether it gets an object before the rest."""
    match value:
        case FunctionValue():
            return value, False
        case MethodValue(function=function):
            return function, True
        case ClassValue():
            found = find_method(program.ev, value, "__init__")
            for init in found[1] if found is not None else ():
                if isinstance(init, FunctionValue):
                    return init, True
    return None, False
