"""Options of the command line that a project leaves off: their default is 0, False or None, its scripts and READMEs
give commands of the program, and none of them turns the option on.

What runs only where such an option is on may be reported to whoever turns it on. No option for a seed is one of them,
nor is one that asks for determinism or for the training. Which of several choices is made (`args.model == "mlp"`) says
nothing: a README gives one as an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.command_line import is_assigned
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.narrowing import parts_of_test
from torchrepro_lint.program.evaluation.values import Instance, Site
from torchrepro_lint.program.intent.configured_defaults import declared_texts, gives_option
from torchrepro_lint.program.intent.intent_at import ways_to
from torchrepro_lint.program.intent.wishes import WISH
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.guards import guards, left_before, place_of
from torchrepro_lint.program.running.option_tests import option_in
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.source.commands import name_file, turn_on, without_comments
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_digest, names_setting

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.running.events import Event

__all__ = [
    "commands_run",
    "depend_on_configurations",
    "is_an_option_left_off",
    "is_reached_with_an_option_left_off",
    "needs_an_option_left_off",
    "runs_where_an_option_is_off",
    "scopes_with_option",
]

#: Options that count wherever they may be on.
_ASKED_FOR: Final = ("is_a_given_seed", "chooses_training")
_OFF: Final = ("false", "0", "no", "none", "")


def commands_run(program: Program) -> list[bytes]:
    """The texts that give commands of the project, without those that are commented out."""
    return program.once("commands without comments", lambda: without_comments(program.commands))


def depend_on_configurations(program: Program) -> None:
    """Notes that what is found depends on the YAML files of the project, which are read for that once."""
    digest = program.once("digest of configurations", lambda: configurations_digest(program.root))
    program.project.outside[ALL_CONFIGURATIONS] = digest


def scopes_with_option(program: Program, name: str) -> Iterator[tuple[Path, Scope, list[tree.Call]]]:
    """The scopes of the files that have the name of an option, each with the calls that declare it there."""
    for path in program.project.matching(any_word({name, name.replace("_", "-")})):
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            yield path, scope, [call for call, _ in scope.calls if gives_option(call, name)]


def is_an_option_left_off(program: Program, node: tree.Expr, frame: Frame) -> bool:
    """Whether an expression is such an option."""
    name = _option(program, node, frame)
    if name is None or any(function_words(one).search(name) for one in _ASKED_FOR) or WISH.search(name):
        return False
    return program.once(("option left off", name), partial(_is_left, program, name))


def is_reached_with_an_option_left_off(program: Program, site: Site) -> bool:
    """Whether each way in which a place comes to run needs such an option."""
    return program.once(("reached with an option left off", site), partial(_is_reached_so, program, site))


def _is_reached_so(program: Program, site: Site) -> bool:
    found = ways_to(program, site)
    return bool(found) and all(
        runs_where_an_option_is_off(program, (Site(one.facts.path, one.site) for one in way)) for way in found
    )


def needs_an_option_left_off(program: Program, event: Event) -> bool:
    """Whether something is only called, or the object whose method calls it only made, where such an option is on."""
    made = [
        value.site
        for _, values in (event.frame.params if event.frame is not None else ())
        for value in values
        if len(values) == 1 and isinstance(value, Instance) and value.site is not None
    ]
    return runs_where_an_option_is_off(program, (*event.sites, *made))


def runs_where_an_option_is_off(program: Program, sites: Iterable[Site]) -> bool:
    """Whether one of the places that a run comes through is only reached where such an option is on."""
    return any(program.once(("left off", site), partial(_is_left_off, program, site)) for site in sites)


def _is_left_off(program: Program, site: Site) -> bool:
    place = place_of(program.ev, site)
    if place is None:
        return False
    tested = [
        subject
        for guard in (*guards(program.ev, place), *left_before(place))
        for test, holds in parts_of_test(guard.test, guard.holds)
        if (subject := _that_is_on(test, holds)) is not None
    ]
    if not tested:
        return False
    frames = list(contexts(program.ev, place.facts, place.scope))
    return bool(frames) and any(
        all(is_an_option_left_off(program, subject, frame) for frame in frames) for subject in tested
    )


def _that_is_on(test: tree.Expr, holds: bool) -> tree.Expr | None:
    """What is neither 0, False nor None if a test holds, or does not hold."""
    match test:
        case tree.Name() | tree.Attribute() if holds:
            return test
        case tree.Compare(left=left, ops=(op,), comparators=(tree.Const(value=value),)):
            if value in (None, False, 0, "") and (op in (">", "!=", "is not") if holds else op in ("<=", "==", "is")):
                return left
            if value not in (None, False, 0, "") and op in (("==", "is") if holds else ("!=", "is not")):
                return left
    return None


def _option(program: Program, subject: tree.Expr, frame: Frame) -> str | None:
    """The name of the option that an expression is: of a parser, or by the name of what has it (`self.args.x`)."""
    option = option_in(program.ev, subject, frame)
    if option is not None:
        return option.attr
    if isinstance(subject, tree.Attribute) and function_words("holds_arguments").fullmatch(
        last_part(dotted_name(subject.value) or "")
    ):
        return None if is_assigned(frame.facts, subject.attr) else subject.attr
    return None


def _is_left(program: Program, name: str) -> bool:
    declared = list(_declarations(program, name))
    if not declared:
        return False
    depend_on_configurations(program)
    if names_setting(program.root, name):
        return False
    programs = {one.name for path, _, _ in declared for one in program.imports.above(path)}
    commands = commands_run(program)
    return (
        any(name_file(commands, one) for one in sorted(programs))
        and all(flags for _, flags, _ in declared)
        and not any(
            turn_on(commands, flag, programs, takes_value=takes_value)
            or program.project.matching(re.compile(rb"(?<!add_argument\()[\"']%s\b" % re.escape(flag.encode())))
            for _, flags, takes_value in declared
            for flag in flags
        )
    )


def _declarations(program: Program, name: str) -> Iterator[tuple[Path, list[str], bool]]:
    """The declarations of an option: the file, its flags, and whether it takes a value; without flags for one that is
    on by default, or of which that is not known.
    """
    for path, _, calls in scopes_with_option(program, name):
        yield from ((path, _flags(call), not _is_a_switch(call)) for call in calls)


def _flags(call: tree.Call) -> list[str]:
    """The flags of an option that is off by default."""
    given = {arg.keyword: arg.value for arg in call.args if arg.keyword}
    default = given.get("default")
    is_off = default is None or (isinstance(default, tree.Const) and str(default.value or "").lower() in _OFF)
    if not is_off or "*" in "".join(arg.star for arg in call.args) or (_action(call) not in (None, "store_true")):
        return []
    flags = declared_texts(call)
    return flags if all(text.startswith("-") for text in flags) else []


def _action(call: tree.Call) -> object:
    value = next((arg.value for arg in call.args if arg.keyword == "action"), None)
    return value.value if isinstance(value, tree.Const) else value


def _is_a_switch(call: tree.Call) -> bool:
    return _action(call) == "store_true"
