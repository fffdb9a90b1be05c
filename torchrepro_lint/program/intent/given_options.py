"""Options to which the commands and the configurations of a project give several values: runs of it differ by them.

A script or README that runs the program and does not give an option leaves it at its default. What a program writes
down for an option that a configuration gives, `config.every = 5`, is none of its runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.program.intent.configured_defaults import gives_option
from torchrepro_lint.program.intent.options_left_off import commands_run
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.source.commands import given_in_code, name_file, values_of
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_digest, settings_of

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
    program.project.outside[ALL_CONFIGURATIONS] = configurations_digest(program.root)
    values = set(settings_of(program.root, name))
    values.update(_in_commands(program, name))
    return len(values) > 1 or any(value.startswith(b"$") for value in values)


def _in_commands(program: Program, name: str) -> Iterator[bytes]:
    """The values of an option in the scripts, READMEs and programs that give it, and in those that run a program which
    declares it.
    """
    defaults, programs = _declared(program, name)
    for text in commands_run(program):
        given = values_of(text, name)
        yield from given
        if not given and any(name_file([text], one) for one in programs):
            yield from defaults
    in_lists = given_in_code(name)
    for path in program.project.matching(in_lists):
        source = program.project.source(path)
        yield from in_lists.findall(source.searched) if source is not None else ()
        yield from defaults  # what starts one run with the option starts others as they are


def _declared(program: Program, name: str) -> tuple[set[bytes], list[str]]:
    """The defaults of an option of the command line, as commands would give them, and the files that may take it."""
    defaults: set[bytes] = set()
    programs: set[str] = set()
    for path in program.project.matching(any_word({name, name.replace("_", "-")})):
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            for call, _ in scope.calls:
                if gives_option(call, name):
                    defaults.update(_default(call))
                    programs.update(one.name for one in program.imports.above(path))
    return defaults, sorted(programs)


def _default(call: tree.Call) -> Iterator[bytes]:
    for arg in call.args:
        if arg.keyword == "default" and isinstance(arg.value, tree.Const):
            yield str(arg.value.value).encode()
