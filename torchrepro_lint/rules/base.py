"""What a rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Literal

from torchrepro_lint.diagnostics import Applicability, Finding, Fix, Severity
from torchrepro_lint.fixes.unsafe_reasons import (
    ALWAYS,
    IN_A_SELF_TEST,
    IN_A_TEST,
    NOT_THE_PROJECT_S,
    ONLY_EVALUATES,
    UNKNOWN_MODULE,
    UNMADE,
    Because,
)
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.options_left_off import is_reached_with_an_option_left_off
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.for_others import (
    is_copied,
    is_no_longer_used,
    is_one_of_many,
    is_put_aside,
    shows_or_measures,
)
from torchrepro_lint.program.repetition import (
    Left,
    is_left_to_the_callers,
    is_left_unused,
    is_of_a_self_test,
    is_run_elsewhere_alone,
    left_to_strict,
    only_evaluates,
)
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.unused_methods import is_of_an_unmade_class
from torchrepro_lint.source.noqa import NOQA_OF_OURS

__all__ = ["Rule"]

#: Rules about switches: the same lines seed and switch in programs that train and in those that evaluate.
_OF_SWITCHES = "TRL3"
#: Rules that ask for what the whole program seeds and switches.
_OF_WHOLE_PROGRAMS = ("TRL2", "TRL3", "TRL5")


class Rule(ABC):
    """One rule: its metadata as class constants, and the question it asks the program.

    The docstring of a rule's module is its documentation. `profile` is "default" (on) or "strict" (only in that
    profile, or when selected). What a rule finds that `is_about_control` is wrong only for those who want a run to
    repeat: where no program that runs the place shows that it wants to, the rule counts as one of the strict profile.
    So does what `is_of_the_caller`, where the place is of a package for programs that are not in sight, and what
    `is_strict_in_tests` finds in a test.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR
    profile: ClassVar[Literal["default", "strict"]] = "default"
    is_about_control: ClassVar[bool] = False
    is_of_the_caller: ClassVar[bool] = False
    is_strict_in_tests: ClassVar[bool] = False
    seldom: ClassVar[str] = "it seldom matters there"

    @abstractmethod
    def check(self, program: Program) -> Iterator[Finding]:
        """The rule's findings in the whole project, in the order of files and text."""

    def _why_unsafe(self, program: Program, site: Site, fix: Fix) -> Because | None:
        """Why a fix that is safe by itself is unsafe where it is."""
        left_alone = (_why_left_alone(program, edit.path) for edit in fix.edits)
        because = next((one for one in left_alone if one is not None), None)
        if because is not None:
            return because
        if is_of_a_self_test(program, site):
            return IN_A_SELF_TEST
        if _is_of_an_unmade_class(program, site):
            return UNMADE
        if self.code.startswith(_OF_WHOLE_PROGRAMS) and program.imports.lacks_a_module(site.path):
            return UNKNOWN_MODULE
        return ONLY_EVALUATES if not self.code.startswith(_OF_SWITCHES) and only_evaluates(program, site) else None

    def finding(
        self,
        program: Program,
        site: Site,
        message: str,
        trace: Iterable[Link] = (),
        *,
        severity: Severity | None = None,
        fix: Fix | None = None,
        declined: str | None = None,
        about_control: bool | None = None,
        seldom_matters: bool | str = False,
        repeats: bool = False,
    ) -> Finding:
        """A finding of this rule at a site. In tests every fix is unsafe: they may check what it would change. So is it
        in self-tests, in classes of which only static methods are used, in documentation, in programs that measure
        times, in those that only evaluate, but for switches, and in files that were put aside, downloaded with a whole
        project, or copied from a library.

        `about_control` is said where it differs between findings of the rule. What `seldom_matters`, for the reason
        given or that of the rule, is of the strict profile, whatever the program wants. So is all in files that are no
        longer used, in what came from elsewhere and the project does not run, and in what nothing mentions of a file
        that others import. So is what `repeats` as it is.
        """
        if fix is not None and fix.applicability is Applicability.SAFE:
            fix = fix.made_unsafe(self._why_unsafe(program, site, fix))
        elif fix is not None:
            fix = fix.made_unsafe(ALWAYS.get(self.code))
        left = self._left_to_strict(program, site, about_control) if not seldom_matters or program.strict else None
        if seldom_matters and (left is None or left.programs):
            left = Left(because=seldom_matters if isinstance(seldom_matters, str) else self.seldom)
        return Finding(
            self.code,
            self.name,
            message,
            severity or self.severity,
            program.location(site),
            program.steps(trace),
            fix,
            declined,
            program.places.statement_rows(site),
            left.programs if left is not None else None,
            left.because if left is not None else "",
            repeats,
        )

    def is_told(self, program: Program, site: Site, *, about_control: bool | None = None) -> bool:
        """Whether the profile reports what the rule finds at a site, as far as the site decides that: the fix of what
        it does not report need not be planned, which takes longer than finding it.
        """
        return self.is_asked_for(program) or self._left_to_strict(program, site, about_control) is None

    def is_asked_for(self, program: Program) -> bool:
        """Whether all that the rule finds is reported: the profile is the strict one, or the rule is selected by its
        code or name.
        """
        return program.strict or program.is_chosen(self.code, self.name)

    def passes_over(self, program: Program, path: Path) -> bool:
        """Whether nobody is told what the rule, one that `is_strict_in_tests`, finds in a file: a test, where the
        `strict` profile is not asked for. A test with comments that silence a rule is looked at, to know which of them
        are needed.
        """
        return (
            self.is_strict_in_tests
            and program.is_test(path)
            and not self.is_asked_for(program)
            and not program.project.holds(path, NOQA_OF_OURS)
        )

    def _left_to_strict(self, program: Program, site: Site, about_control: bool | None) -> Left | None:
        """Why a finding at a site is one of the strict profile."""
        of_control = self.is_about_control if about_control is None else about_control
        if self.is_strict_in_tests and program.is_test(site.path):
            return Left(because="it is in a test")
        if is_no_longer_used(program, site.path):
            return Left(because="the file is kept beside what is used instead")
        if is_run_elsewhere_alone(program, site):
            return Left(because="it came from elsewhere, and only what came from there runs it")
        if is_left_unused(program, site):
            return Left(because="nothing in the project runs this code")
        if is_reached_with_an_option_left_off(program, site):
            return Left(because="it runs only with an option that no command of the project gives")
        if not of_control:
            return None
        if self.is_of_the_caller and is_left_to_the_callers(program, site):
            return Left(because="it is code for programs of others, which choose the seeds")
        return left_to_strict(program, site)


def _why_left_alone(program: Program, path: Path) -> Because | None:
    """Why nobody asks for a change in a file: a test, documentation, a measurement of times, what was put aside or
    is kept of an experiment, and what is another project's.
    """
    if program.is_test(path):
        return IN_A_TEST
    if is_put_aside(program, path) or is_copied(program, path):
        return NOT_THE_PROJECT_S
    return NOT_THE_PROJECT_S if shows_or_measures(program, path) or is_one_of_many(program, path) else None


def _is_of_an_unmade_class(program: Program, site: Site) -> bool:
    place = place_of(program.ev, site)
    return place is not None and is_of_an_unmade_class(program, place.facts, place.scope)
