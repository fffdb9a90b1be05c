"""What an output format is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.rule_metadata import RuleMetadata

__all__ = ["ReportInput"]


@dataclass(frozen=True, slots=True)
class ReportInput:
    """The findings of a run in order, and what is needed to show them.

    `may_fix` says whether `--fix` fixes a finding. `errors` are internal errors, one line each. `rules` gives all rules
    and is only called by formats that list them. `note` is a remark on the whole run, for formats with a place for it.
    `profile` is the one that the command line names, None where it names none.
    """

    findings: Sequence[Finding]
    texts: Texts
    colours: Colours
    may_fix: Callable[[Finding], bool]
    errors: Sequence[str] = ()
    rules: Callable[[], Sequence[RuleMetadata]] = tuple
    note: str | None = None
    profile: str | None = None
