"""What is handed to an output format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.rule_metadata import RuleMetadata

__all__ = ["Reported"]


@dataclass(frozen=True, slots=True)
class Reported:
    """The findings of a run in the order of report, and what is needed to show them.

    `may_fix` says whether `--fix` fixes a finding, `errors` are the tool's own faults, a line each, and `rules` gives
    the rules that there are: it is asked only by a format that lists them.
    """

    findings: Sequence[Finding]
    texts: Texts
    colours: Colours
    may_fix: Callable[[Finding], bool]
    errors: Sequence[str] = ()
    rules: Callable[[], Sequence[RuleMetadata]] = tuple
