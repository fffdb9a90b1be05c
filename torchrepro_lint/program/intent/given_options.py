"""Options to which the commands and the configurations of a project give several values: runs of it differ by them.

A script or README that runs the program and does not give an option leaves it at its default. What a program writes
down for an option that a configuration gives, `config.every = 5`, is none of its runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.intent.configured_defaults import declared_texts
from torchrepro_lint.program.intent.options_left_off import (
    commands_run,
    depend_on_configurations,
    scopes_with_option,
)
from torchrepro_lint.source.commands import given_in_code, name_file, short_values_of, starts_without, values_of
from torchrepro_lint.source.configurations import settings_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_given_differently"]


def is_given_differently(program: Program, option: str) -> bool:
    """Whether an option, as it is written (`args.every`), has two values or more in the runs that a project shows."""
    name = last_part(option)
    if not name.isidentifier():
        return False
    return program.once(("given differently", name), partial(_is_given_differently, program, name))


def _is_given_differently(program: Program, name: str) -> bool:
    depend_on_configurations(program)
    values = set(settings_of(program.root, name))
    values.update(_in_commands(program, name))
    return len(values) > 1 or any(value.startswith(b"$") for value in values)


def _in_commands(program: Program, name: str) -> Iterator[bytes]:
    """The values of an option in the scripts, READMEs and programs that give it, and in those that run a program which
    declares it.
    """
    found = _declared(program, name)
    programs = sorted(found.programs)
    for text in commands_run(program):
        given = {value for one in found.names for value in values_of(text, one)}
        given.update(value for one in sorted(found.short) for value in short_values_of(text, one, programs))
        yield from given
        if starts_without(text, found.names | found.short, programs) or (
            not given and any(name_file([text], one) for one in programs)
        ):
            yield from found.defaults
    for one in sorted(found.names):
        in_lists = given_in_code(one)
        for path in program.project.matching(in_lists):
            source = program.project.source(path)
            yield from in_lists.findall(source.searched) if source is not None else ()
            yield from found.defaults  # what starts one run with the option starts others as they are


@dataclass(slots=True)
class _Declared:
    """An option of the command line: what commands call it (`--eval-interval` of `dest="every"`), its short flags, its
    defaults, as commands would give them, and the files that may take it.
    """

    names: set[str]
    short: set[str] = field(default_factory=set)
    defaults: set[bytes] = field(default_factory=set)
    programs: set[str] = field(default_factory=set)


def _declared(program: Program, name: str) -> _Declared:
    found = _Declared({name})
    for path, scope, calls in scopes_with_option(program, name):
        flags = [text for call in calls for text in declared_texts(call) if text.startswith("-")]
        found.short.update(one for one in flags if not one.startswith("--"))
        found.names.update(one.lstrip("-").replace("-", "_") for one in flags if one.startswith("--"))
        defaults = {*(value for call in calls for value in _default(call)), *_of_a_class(scope, name)}
        found.defaults |= defaults
        if calls or defaults:
            found.programs.update(one.name for one in program.imports.above(path))
    return found


def _default(call: tree.Call) -> Iterator[bytes]:
    for arg in call.args:
        if arg.keyword == "default" and isinstance(arg.value, tree.Const):
            yield str(arg.value.value).encode()


def _of_a_class(scope: Scope, name: str) -> Iterator[bytes]:
    """The default of an option that is a field of a class: `eval_every: int = 1`."""
    if isinstance(scope.node, tree.ClassDef):
        for one in scope.node.body:
            match one:
                case tree.Assign(targets=(tree.Name(id=field_name),), value=tree.Const(value=value), annotation=told):
                    if field_name == name and told is not None:
                        yield str(value).encode()
