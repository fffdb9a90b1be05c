"""Environment variables of determinism that a program sets after their readers have started.

What Python reads when it starts (`PYTHONHASHSEED`) reaches only processes that are started later; CUDA reads its own
(`CUDA_LAUNCH_BLOCKING`) when it is first used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import strings_in, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.environment import environment_variables
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.intent.intent import running_modules
from torchrepro_lint.program.orders.set_order import ordered_sets
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.if_tests import tests_around
from torchrepro_lint.program.switches.cuda_use import first_use_before
from torchrepro_lint.program.switches.environment import assignments

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LateVariable", "late_variables"]


@dataclass(frozen=True, slots=True)
class LateVariable:
    """An assignment that comes too late. `reader` is where CUDA has been started before; None for Python's own.
    `matters`: what it was to control is seen to decide something in one of its programs.
    """

    name: str
    site: Site
    reader: Site | None
    matters: bool = True


@dataclass(frozen=True, slots=True)
class _Setting:
    name: str
    facts: ModuleFacts
    scope: Scope
    site: int
    value: tree.Expr
    path: ArmPath


def late_variables(program: Program) -> Iterator[LateVariable]:
    """All of them, in the order of files and text."""
    for path in program.asked_with(_any_name()):
        facts = program.facts(path)
        if facts is None or program.is_test(path):
            continue
        for scope in facts.walk_scopes():
            for setting in _settings(program, facts, scope):
                late = _late(program, setting)
                if late is not None:
                    yield late


def _late(program: Program, setting: _Setting) -> LateVariable | None:
    program.ev.begin_question()
    roots = running_modules(program.ev, setting.facts, setting.scope)
    site = Site(setting.facts.path, setting.site)
    if not roots or _may_start_again(setting):
        return None
    if environment_variables()[setting.name].read_at_start_of == "python":
        files = program.imports.with_imports(program.runs_with(roots | {setting.facts.path}))
        if any(program.project.holds(path, program_words("starts_python")) for path in files):
            return None
        # Another program may share the file, and never come to the place.
        running = program.imports.with_imports(program.runs_with(roots))
        return LateVariable(setting.name, site, None, _depends_on_hashes(program, running))
    started = _cuda_started(program, setting)
    return LateVariable(setting.name, site, Site(setting.facts.path, started)) if started is not None else None


@cache
def _names() -> tuple[str, ...]:
    return tuple(name for name, one in environment_variables().items() if one.read_at_start_of is not None)


@cache
def _any_name() -> re.Pattern[bytes]:
    return re.compile("|".join(_names()).encode())


# --- where it is set ----------------------------------------------------------------------------------------------


def _settings(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[_Setting]:
    found = [
        _Setting(one.name, facts, scope, one.node.site, one.value, one.path)
        for one in assignments(scope)
        if one.name in _names() and _is_environ(program, one.owner, facts, scope)
    ]
    yield from sorted(found, key=lambda one: one.site)


def _is_environ(program: Program, node: tree.Expr, facts: ModuleFacts, scope: Scope) -> bool:
    frame = contexts(program.ev, facts, scope)[0]
    return any(
        isinstance(value, External) and value.name in ("os.environ", "os") for value in program.ev.values(node, frame)
    )


def _may_start_again(setting: _Setting) -> bool:
    """Whether it is set only where it is missing or different, and something is called after that: programs that start
    themselves again do so.
    """
    if not any(setting.name in strings_in(test) for test, _ in tests_around(setting.scope, setting.path)):
        return False
    own = {setting.site, *(node.site for node in walk([setting.value]))}
    return any(
        call.site > setting.site and call.site not in own and path[: len(setting.path)] == setting.path
        for call, path in setting.scope.calls
    )


# --- who reads it -------------------------------------------------------------------------------------------------


def _depends_on_hashes(program: Program, files: frozenset[Path]) -> bool:
    """Whether one of the files asks for a hash, or lets the order of a set of texts decide something."""
    if any(program.project.holds(path, program_words("hashes")) for path in files):
        return True
    ordered = program.once("ordered sets", lambda: tuple(ordered_sets(program)))
    return any(one.site.path in files for one in ordered)


def _cuda_started(program: Program, setting: _Setting) -> int | None:
    """The site of a call of the same scope that has surely used CUDA before."""
    frame = contexts(program.ev, setting.facts, setting.scope)[0]
    call = first_use_before(program.ev, frame, setting.site)
    return call.site if call is not None else None
