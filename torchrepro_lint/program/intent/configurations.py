"""Seeds and switches in configuration files, where the visible program provably uses them.

Two frameworks say in the code which file they read: `LightningCLI` builds the Trainer from the YAML files that it is
given, and `hydra.main` hands its function the configuration that is put together from those beside it. The evidence
is at the call that makes use of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.switches import seeding_call, switch_call_names
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Arguments, Constant, External, Values
from torchrepro_lint.program.intent.command_lines import (
    CommandLineCall,
    command_line_calls,
    command_line_names,
    configuration_files,
)
from torchrepro_lint.program.intent.hydra import configured
from torchrepro_lint.program.intent.intent import EVIDENCE_WORDS, Evidence, running_modules
from torchrepro_lint.program.intent.library_releases import switches_of
from torchrepro_lint.program.loaders.worker_runs import condition_holds
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_digest, read_configuration

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["configured_evidence", "evidence_words"]


def configured_evidence(program: Program) -> list[Evidence]:
    """All of it, in the order of files and text."""
    found = [one for call in command_line_calls(program) for one in _of_command_line(program, call)]
    if program.project.containing("hydra"):
        # From here on the answer depends on files that are no Python.
        program.project.outside[ALL_CONFIGURATIONS] = configurations_digest(program.root)
        for path in program.project.matching(_switching()):
            facts = program.facts(path)
            for scope in facts.walk_scopes() if facts is not None else ():
                for call, arms in scope.calls:
                    found.extend(_of_call(program, facts, scope, call, arms))  # type: ignore[arg-type]
    return sorted(found, key=lambda one: (str(one.site.path), one.site.number))


def evidence_words() -> tuple[re.Pattern[bytes], ...]:
    """Patterns of which one finds something in the bytes of each file that evidence is in."""
    return EVIDENCE_WORDS, command_line_names(), _switching()


@cache
def _switching() -> re.Pattern[bytes]:
    words = sorted({*switch_call_names(), "instantiate"})
    return re.compile(rb"\b(?:" + b"|".join(re.escape(word.encode()) for word in words) + rb")\b")


def _of_command_line(program: Program, one: CommandLineCall) -> Iterator[Evidence]:
    known, at = one.known, _Configured(one.call, one.frame, one.arms)
    for file in configuration_files(program, one):
        given = read_configuration(file)
        where = f"in {file.relative_to(program.root) if file.is_relative_to(program.root) else file.name}"
        trainer = given.get(known.trainer_key)
        if isinstance(trainer, Mapping):
            name = f"{known.trainer_key}.{{}} {where}"
            yield from _switched(program, name, known.trainer, trainer, at)
        seed = given.get(known.seed_key)
        if seed is True or type(seed) is int:
            values: Values = frozenset((Constant(seed),))
            yield _evidence(program, f"{known.seed_key} {where}", at, "seed", "seeded", values, known.seeding)


# --- Hydra --------------------------------------------------------------------------------------------------------


def _of_call(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call, arms: ArmPath) -> Iterator[Evidence]:
    name = called_name(call.func)
    if name in switch_call_names() or name == "instantiate":
        frame = frame_without_callers(program.ev, facts, scope)
        for where, function, keywords in _by_hydra(program, call, frame):
            yield from _switched(program, where, function, keywords, _Configured(call, frame, arms))


def _by_hydra(program: Program, call: tree.Call, frame: Frame) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """What a call gets from the configuration: how to say it, the function called, and its keywords."""
    functions = {canonical(v.name) for v in program.ev.values(call.func, frame) if isinstance(v, External)}
    keywords: dict[str, object] = {}
    for arg in call.args:
        if arg.star == "**" or (functions & {"hydra.utils.instantiate", "hydra.utils.call"} and arg.keyword is None):
            given = configured(program.ev, arg.value, frame)
            keywords.update(given if isinstance(given, Mapping) else {})
        elif arg.keyword is not None:
            keywords[arg.keyword] = configured(program.ev, arg.value, frame)
    target = keywords.get("_target_")
    names = {canonical(target)} if isinstance(target, str) else functions
    for name in sorted(names):
        yield "{} in the configuration", name, keywords


# --- evidence -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Configured:
    """A call that a configuration is passed to, in one frame; `arms` are the arms of its scope around it."""

    call: tree.Call
    frame: Frame
    arms: ArmPath


def _switched(
    program: Program, where: str, function: str, given: Mapping[str, object], at: _Configured
) -> Iterator[Evidence]:
    """The switches of a call of `function` that the configuration sets, those aside that the code sets itself."""
    known = {
        key: value
        for key, value in given.items()
        if isinstance(value, (bool, int)) or (isinstance(value, str) and "${" not in value)
    }
    arguments = Arguments((), tuple((key, frozenset((Constant(value),)), True) for key, value in sorted(known.items())))
    for switch in switches_of(program.root, function):
        parameter = switch.parameter.name if switch.parameter is not None else ""
        if parameter in known and all(condition_holds(condition, arguments) for condition in switch.when):
            values: Values = frozenset((Constant(known[parameter]),))
            yield _evidence(program, where.format(parameter), at, switch.effect, switch.level, values)


def _evidence(
    program: Program, name: str, at: _Configured, effect: str, level: str | None, values: Values, seeds_by: str = ""
) -> Evidence:
    seeding = seeding_call(seeds_by)
    return Evidence(
        name=name,
        effect=effect,
        level=level,
        seeds=seeding.seeds if seeding is not None else frozenset(),
        site=program.site(at.call, at.frame),
        node=at.call,
        value=None,
        values=values,
        frame=at.frame,
        path=at.arms,
        roots=running_modules(program.ev, at.frame.facts, at.frame.scope),
    )
