"""What a rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from torchrepro_lint.diagnostics import Applicability, Finding, Fix, Severity
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link

__all__ = ["Rule"]


class Rule(ABC):
    """One rule: its metadata as class constants, and the question it asks the program.

    The docstring of a rule's module is its documentation. `profile` is "default" (on) or "strict" (only in that
    profile, or when selected).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR
    profile: ClassVar[Literal["default", "strict"]] = "default"

    @abstractmethod
    def check(self, program: Program) -> Iterator[Finding]:
        """The rule's findings in the whole project, in the order of files and text."""

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
    ) -> Finding:
        """A finding of this rule at a site. In tests every fix is unsafe: they may check what it would change."""
        if fix is not None and any(program.is_test(edit.path) for edit in fix.edits):
            fix = replace(fix, applicability=Applicability.UNSAFE)
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
        )
