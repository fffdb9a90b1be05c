"""Options of the command line that a project leaves off: their default is 0, False or None, its scripts and READMEs
give commands of the program, and none of them turns the option on.

What runs only where such an option is on may be reported to whoever turns it on. No option for a seed is one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.narrowing import parts_of_test
from torchrepro_lint.program.evaluation.values import Instance, Site
from torchrepro_lint.program.intent.configured_defaults import gives_option
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.guards import guards, left_before, place_of
from torchrepro_lint.program.running.option_tests import option_in
from torchrepro_lint.program.word_index import any_word
from torchrepro_lint.source.commands import leave_off
from torchrepro_lint.source.configurations import ALL_CONFIGURATIONS, configurations_digest, names_setting

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.running.events import Event

__all__ = ["needs_an_option_left_off", "runs_where_an_option_is_off"]


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
    return bool(frames) and any(all(_is_off(program, subject, frame) for frame in frames) for subject in tested)


def _that_is_on(test: tree.Expr, holds: bool) -> tree.Expr | None:
    """What is neither 0, False nor None if a test holds, or does not hold."""
    match test:
        case tree.Name() | tree.Attribute() if holds:
            return test
        case tree.Compare(left=left, ops=(op,), comparators=(tree.Const(value=value),)):
            if value in (None, False, 0, "") and (op in (">", "!=", "is not") if holds else op in ("<=", "==", "is")):
                return left
            if value not in (None, False, 0, "") and holds and op in ("==", "is"):
                return left
    return None


def _is_off(program: Program, subject: tree.Expr, frame: Frame) -> bool:
    option = option_in(program.ev, subject, frame)
    if option is None or function_words("is_a_given_seed").search(option.attr):
        return False
    return program.once(("option left off", option.attr), lambda: _is_left(program, option.attr))


def _is_left(program: Program, name: str) -> bool:
    declared = list(_declarations(program, name))
    if not declared:
        return False
    program.project.outside[ALL_CONFIGURATIONS] = configurations_digest(program.root)
    if names_setting(program.root, name):
        return False
    return all(flags for _, flags, _ in declared) and all(
        any(
            leave_off(program.commands, one.name, flag, takes_value=takes_value)
            for one in sorted(program.imports.above(path))
        )
        and not program.project.matching(re.compile(rb"(?<!add_argument\()[\"']%s\b" % re.escape(flag.encode())))
        for path, flags, takes_value in declared
        for flag in flags
    )


def _declarations(program: Program, name: str) -> Iterator[tuple[Path, list[str], bool]]:
    """The declarations of an option: the file, its flags, and whether it takes a value; without flags for one that is
    on by default, or of which that is not known.
    """
    for path in program.project.matching(any_word({name, name.replace("_", "-")})):
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            yield from (
                (path, _flags(call), not _is_a_switch(call)) for call, _ in scope.calls if gives_option(call, name)
            )


def _flags(call: tree.Call) -> list[str]:
    """The flags of an option that is off by default."""
    given = {arg.keyword: arg.value for arg in call.args if arg.keyword}
    default = given.get("default")
    is_off = default is None or (isinstance(default, tree.Const) and not default.value)
    if not is_off or "*" in "".join(arg.star for arg in call.args) or (_action(call) not in (None, "store_true")):
        return []
    texts = [arg.value.value for arg in call.args if arg.keyword is None and isinstance(arg.value, tree.Const)]
    flags = [text for text in texts if isinstance(text, str)]
    return flags if all(text.startswith("-") for text in flags) else []


def _action(call: tree.Call) -> object:
    value = next((arg.value for arg in call.args if arg.keyword == "action"), None)
    return value.value if isinstance(value, tree.Const) else value


def _is_a_switch(call: tree.Call) -> bool:
    return _action(call) == "store_true"
