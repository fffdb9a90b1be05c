"""What a command line offers: the commands that a group has, and what Fire and its kin find in what they are given."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import uncalled
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    ModuleValue,
    Partial,
    SequenceValue,
    Site,
    Value,
    Values,
    values_of,
)
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["MAX_OFFERED", "commands_of", "components"]

MAX_OFFERED = 32


# --- Fire and its kin ---------------------------------------------------------------------------------------------


def components(ev: Evaluator, values: Values, site: Site | None) -> tuple[Value, ...]:
    """The functions, classes and methods that a command line offers which was given `values`, or nothing: then it
    offers the file that calls it, at `site`. There are more than `MAX_OFFERED` only where some are left out.
    """
    if not values and site is not None:
        facts = ev.project.facts(site.path)
        values = values_of(ModuleValue(site.path, facts)) if facts is not None else values
    return tuple(islice(_components(ev, values), MAX_OFFERED + 1))


def _components(ev: Evaluator, values: Collection[Value]) -> Iterator[Value]:
    for value in ordered(values):
        match value:
            case FunctionValue() | MethodValue() | Partial():
                yield value
            case ClassValue():
                yield value
                yield from _methods(ev, Instance(value, Arguments((), (), True, True), None))
            case Instance():
                yield from _methods(ev, value)
            case DictValue():
                yield from _components(ev, value.all_values())
            case SequenceValue():
                yield from _components(ev, value.elements())
            case ModuleValue(facts=ModuleFacts() as facts):
                yield from _components(ev, _defined(ev, facts))


def _methods(ev: Evaluator, instance: Instance) -> Iterator[Value]:
    names: dict[str, None] = {}
    for base in classes.mro(ev, instance.cls):
        if isinstance(base, ClassValue):
            for statement in base.node.body:
                if isinstance(statement, tree.FunctionDef) and not statement.name.startswith("_"):
                    names.setdefault(statement.name)
    for name in names:
        yield from (one for one in ordered(ev.attribute(instance, name)) if isinstance(one, MethodValue))


def _defined(ev: Evaluator, facts: ModuleFacts) -> list[Value]:
    """The functions and classes that a file defines under public names."""
    frame = ev.module_frame(facts)
    return [
        value
        for statement in facts.body
        if isinstance(statement, (tree.FunctionDef, tree.ClassDef)) and not statement.name.startswith("_")
        for value in ordered(ev.name(statement.name, END, frame))
    ]


# --- groups of commands -------------------------------------------------------------------------------------------


def commands_of(ev: Evaluator, value: Value) -> Values:
    """The functions, and the groups below it, that are registered as commands of a group; nothing for other values."""
    if not _is_group(ev, value):
        return NOTHING
    return ev.remembered(("commands", value), lambda: frozenset(_commands(ev, value)), NOTHING)


def _is_group(ev: Evaluator, value: Value) -> bool:
    match value:
        case ExternalObject(name=name):
            return name in known_calls("command_groups")
        case FunctionValue(node=tree.FunctionDef(decorators=decorators), frame=frame):
            return any(_makes_group(ev, uncalled(decorator), frame) for decorator in decorators)
    return False


def _makes_group(ev: Evaluator, head: tree.Expr, frame: Frame) -> bool:
    """Whether a decorator makes a group of a function: `@click.group()`, `@cli.group()`."""
    match head:
        case tree.Attribute(value=owner, attr="group") if any(_is_group(ev, one) for one in ev.values(owner, frame)):
            return True
    groups = known_calls("command_groups")
    return any(isinstance(one, External) and one.name in groups for one in ev.values(head, frame))


def _commands(ev: Evaluator, group: Value) -> Iterator[Value]:
    for path in sorted({path for word in ("command", "add_command", "add_typer", "group", "callback", "default")
                        for path in ev.project.containing(word)}):  # fmt: skip
        facts = ev.project.facts(path)
        if facts is None:
            continue
        module = ev.module_frame(facts)
        for statement in facts.body:
            if isinstance(statement, tree.FunctionDef):
                if any(_registers(ev, uncalled(decorator), module, group) for decorator in statement.decorators):
                    yield FunctionValue(statement, module)
        for scope in facts.walk_scopes():
            for call, _ in scope.calls:
                if call.args and function_words("registers").fullmatch(_method(uncalled(call.func))):
                    frame = contexts(ev, facts, scope)[0]
                    if _registers(ev, uncalled(call.func), frame, group):
                        yield from ev.values(call.args[0].value, frame)


def _registers(ev: Evaluator, head: tree.Expr, frame: Frame, group: Value) -> bool:
    """Whether something registers with the group: `@cli.command()`, `cli.add_command(f)`, `app.command()(f)`."""
    match head:
        case tree.Attribute(value=owner, attr=attr) if function_words("registers").fullmatch(attr):
            return group in ev.values(owner, frame)
    return False


def _method(head: tree.Expr) -> str:
    return head.attr if isinstance(head, tree.Attribute) else ""
