"""The public interface for rules of other packages. Anything that this module does not export may change without
notice.

A package provides its rules as entry points of the group `torchrepro_lint.rules`, each a subclass of `Rule`:

    [project.entry-points."torchrepro_lint.rules"]
    TRL801 = "my_package.rules:DropoutAlwaysOn"

The codes TRL800 to TRL899 are reserved for such rules. They are selected, suppressed, listed, documented and reported
like the built-in ones; the documentation of a rule is the docstring of its module.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from torchrepro_lint.diagnostics import Applicability, Edit, Finding, Fix, Location, Position, Severity, TraceStep
from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.keyword_fix import keyword_fix
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.arguments import evaluate_arguments, external_argument
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, External, Site
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.external_calls import calls_of
from torchrepro_lint.source.target import TargetTorch

__all__ = [
    "Applicability",
    "Argument",
    "Call",
    "Edit",
    "Finding",
    "Fix",
    "Location",
    "Position",
    "Project",
    "Rule",
    "Severity",
    "TraceStep",
]


@dataclass(frozen=True, slots=True)
class Argument:
    """What values an argument of a call can have.

    `given` says whether the call passes it; None if that is unknown (`*args`, `**kwargs`). `constants` are all values
    that it can have, over all the ways in which the call can be reached; None if one of them is unknown. Values from
    the command line, a configuration file or the environment are always unknown.
    """

    given: bool | None
    constants: tuple[object, ...] | None

    def is_proven(self, value: object) -> bool:
        """Whether the argument has this value whenever the call runs. `True` and `1` are different values."""
        return self.constants is not None and [(type(one), one) for one in self.constants] == [(type(value), value)]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function or class from outside the project, whatever name the file has for it.

    `name` is its qualified name, such as `torch.nn.functional.dropout`. `location` is the range of the whole call.
    """

    name: str
    _program: Program
    _call: tree.Call
    _frame: Frame

    @property
    def path(self) -> Path:
        """The file, absolute."""
        return self._frame.facts.path

    @property
    def location(self) -> Location:
        """Where the call is."""
        return self._program.location(self._site)

    def argument(self, keyword: str, position: int | None = None) -> Argument:
        """The argument that is passed by `keyword`, or at `position`, which counts from 0."""
        ev = self._program.ev
        parameters = tuple(keyword if number == position else "" for number in range((position or 0) + 1))
        found: list[object] = []
        given: set[bool | None] = set()
        known = True
        for frame in contexts(ev, self._frame.facts, self._frame.scope):
            arguments = evaluate_arguments(ev, self._call.args, frame)
            values, optional = external_argument(arguments, parameters if position is not None else (), keyword)
            given.add(not optional if not (values and optional) else None)
            for value in values:
                if isinstance(value, Constant):
                    found.append(value.value)
                else:
                    known = False
        constants = {(type(one), one): one for one in found}
        return Argument(
            given.pop() if len(given) == 1 else None, tuple(constants.values()) if known and found else None
        )

    def passing(self, keyword: str, expression: str, position: int | None = None) -> Fix | None:
        """The fix that passes `keyword=expression`, replacing the present value of the keyword. `position`, from 0, is
        where the argument can be passed without its name. None if the call may already pass it in another way.
        """
        before = position if position is not None else len(self._call.args)
        return keyword_fix(self._program, self._site, keyword, expression, before)[0]

    @property
    def statement_rows(self) -> tuple[int, int]:
        """The first and the last row of the statement; a `# noqa` comment on any of them applies."""
        return self._program.places.statement_rows(self._site)

    @property
    def _site(self) -> Site:
        return Site(self.path, self._call.site)


class Project:
    """The project that is checked: all of its files, linked."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @property
    def root(self) -> Path:
        """The folder of the project, absolute."""
        return self._program.root

    @property
    def target(self) -> TargetTorch:
        """The versions of torch that the project targets: `target.admits_below("2.1")`, `target.newest()`."""
        return self._program.target

    @property
    def strict(self) -> bool:
        """Whether the strict profile is on."""
        return self._program.strict

    def calls(self, *names: str) -> Iterator[Call]:
        """The calls of the functions and classes with these qualified names, in the order of files and text.

        Every form of import counts, and every name that a value has: `F.dropout`, `from torch.nn.functional import
        dropout as d`, `self.act = F.dropout`. Code that is proven never to run is left out.
        """
        wanted = frozenset(canonical(name) for name in names)
        words = "|".join(sorted(re.escape(last_part(name)) for name in wanted))
        ev = self._program.ev
        for call, frame in calls_of(ev, wanted, ev.project.matching(re.compile(words.encode()))):
            values = {canonical(one.name) for one in ev.values(call.func, frame) if isinstance(one, External)}
            yield Call(min(values & wanted), self._program, call, frame)


class Rule(ABC):
    """A rule: its metadata are class constants, and it queries the project.

    `summary` is a single line. `profile` is "default" (on) or "strict" (only in that profile, or if selected).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    profile: ClassVar[Literal["default", "strict"]] = "default"

    @abstractmethod
    def findings(self, project: Project) -> Iterator[Finding]:
        """The findings of the rule in the whole project."""

    def check(self, program: Program) -> Iterator[Finding]:
        """Called by the engine. Do not override."""
        yield from self.findings(Project(program))

    def finding(
        self, call: Call, message: str, *, trace: Iterable[tuple[Location, str]] = (), fix: Fix | None = None
    ) -> Finding:
        """A finding of this rule at a call. `trace` are the places that prove it, each with a few words."""
        steps: Sequence[TraceStep] = [TraceStep(location, note) for location, note in trace]
        return Finding(
            self.code,
            self.name,
            message,
            self.severity,
            call.location,
            tuple(steps),
            fix,
            statement_rows=call.statement_rows,
        )
