"""Calls of a framework's command line, which builds the program from configuration files and seeds it by itself.

What the user types there is not seen: the files and the call say what holds where nothing is typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import strings_in
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.knowledge.command_lines import ABSENT, CommandLine, Given, command_line, command_lines
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation import attributes, classes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ClassValue, Constant, External
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.source.configurations import (
    ALL_CONFIGURATIONS,
    configurations_digest,
    read_configuration,
    yaml_files,
)
from torchrepro_lint.source.package_versions import surely_in

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["CommandLineCall", "command_line_calls", "command_line_names", "configuration_files", "may_seed"]


@dataclass(frozen=True, slots=True, eq=False)
class CommandLineCall:
    """One call. `own`: it is of a class of the project, whose constructor may pass on other arguments."""

    known: CommandLine
    call: tree.Call
    frame: Frame
    arms: ArmPath
    own: bool

    @property
    def facts(self) -> ModuleFacts:
        """What the file says that the call is in."""
        return self.frame.facts


@cache
def command_line_names() -> re.Pattern[bytes]:
    """Finds in the bytes of a file the last part of the name of a framework's command line."""
    return re.compile("|".join(sorted(map(re.escape, _last_names()))).encode())


@cache
def _last_names() -> frozenset[str]:
    return frozenset(last_part(name) for known in command_lines() for name in known.names)


def command_line_calls(program: Program) -> list[CommandLineCall]:
    """All of them, in the order of files and text."""
    return program.ev.of_project("command-line-calls", lambda: list(_find(program)), [])


def _find(program: Program) -> Iterator[CommandLineCall]:
    for path in sorted({path for word in _last_names() for path in program.project.containing(word)}):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            program.ev.begin_question()
            for call, arms in scope.calls:
                frame = frame_without_callers(program.ev, facts, scope)
                found = _called(program, call, frame)
                if found is not None:
                    known, own = found
                    yield CommandLineCall(known, call, frame, arms, own)


def _called(program: Program, call: tree.Call, frame: Frame) -> tuple[CommandLine, bool] | None:
    for value in program.ev.values(call.func, frame):
        match value:
            case External(name=name):
                known = command_line(canonical(name))
                if known is not None:
                    return known, False
            case ClassValue():
                for base in attributes.external_bases(program.ev, value):
                    known = command_line(canonical(base))
                    if known is not None:
                        return known, classes.find_method(program.ev, value, "__init__") is not None
    return None


def configuration_files(program: Program, one: CommandLineCall) -> list[Path]:
    """The files that the call names; where it names none, the nearest of the form that its `--config` takes.

    Those below the folder of another program are that one's.
    """
    # What is found depends on files that are no Python.
    program.project.outside[ALL_CONFIGURATIONS] = configurations_digest(program.root)
    home = one.facts.path.parent
    named = [text for arg in one.call.args for text in strings_in(arg.value) if text.endswith((".yaml", ".yml"))]
    if named:
        places = [folder / text for text in named for folder in (program.root, home)]
        return list(dict.fromkeys(place for place in places if place.is_file()))
    others = {other.facts.path.parent for other in command_line_calls(program)}
    others -= {home, *home.parents}
    for folder in (home, *home.parents):
        found = [
            path
            for path in yaml_files(folder)
            if others.isdisjoint(path.parents) and _is_for(one.known, read_configuration(path))
        ]
        if found or folder == program.root or not folder.is_relative_to(program.root):
            return found
    return []


def _is_for(known: CommandLine, given: Mapping[str, object]) -> bool:
    return isinstance(given.get(known.trainer_key), Mapping) and not {"model", "data", known.seed_key}.isdisjoint(given)


def may_seed(program: Program, one: CommandLineCall, *, by_default: bool = True) -> bool:
    """Whether the program may be seeded by its command line, as far as the call and its files say. Without
    `by_default`, what the framework does where nobody writes a seed does not count.
    """
    known = one.known
    if one.own or any(arg.star or arg.keyword in known.hidden for arg in one.call.args):
        return True
    files = [read_configuration(path) for path in configuration_files(program, one)]
    told = [given[known.seed_key] for given in files if known.seed_key in given]
    if any(not _leaves_unseeded(program, known, "configuration", repr(value)) for value in told):
        return True
    if files and len(told) == len(files):
        return False
    given, values = argument(program.ev.arguments(one.call.args, one.frame), known.seed_argument, None)
    if not given:
        return by_default and not _leaves_unseeded(program, known, "argument", ABSENT)
    return not values or any(
        not isinstance(value, Constant) or not _leaves_unseeded(program, known, "argument", repr(value.value))
        for value in values
    )


def _leaves_unseeded(program: Program, known: CommandLine, given: Given, value: str) -> bool:
    return known.leaves_unseeded(
        given, value, lambda versions: any(surely_in(program.root, package, versions) for package in known.packages)
    )
