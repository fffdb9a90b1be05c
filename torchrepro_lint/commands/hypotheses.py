"""What would have to be otherwise for a rule to report a line: the line is checked once more under other settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import check
from torchrepro_lint.settings import EVERY_RULE, SettingsOverride
from torchrepro_lint.source.project import Project
from torchrepro_lint.source.target import described
from torchrepro_lint.toolkit import Toolkit

__all__ = ["unmet_conditions"]


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    override: SettingsOverride
    applies_if: str
    but: str


def unmet_conditions(project: Project, path: Path, row: int, known: Sequence[Finding], toolkit: Toolkit) -> list[str]:
    """A sentence for each rule that would report the line if the program or its target were another: `TRL402 applies if
    the program asks for determinism; it does not.` `known` are the findings in the file as it is, of all rules.
    """
    seen = {finding.code for finding in known if finding.is_at(path, row)}
    lines = []
    for hypothesis in _hypotheses(project):
        found = check([path], hypothesis.override, suppressed_too=True, toolkit=toolkit).findings
        for finding in found:
            if finding.is_at(path, row) and finding.code not in seen:
                seen.add(finding.code)
                lines.append(f"{finding.code} applies {hypothesis.applies_if}; {hypothesis.but}: {finding.message}.")
    return lines


def _hypotheses(project: Project) -> Iterator[_Hypothesis]:
    settings = project.settings
    if settings.intent != "deterministic":
        asks: SettingsOverride = {**EVERY_RULE, "intent": "deterministic"}
        yield _Hypothesis(asks, "if the program asks for determinism", "it does not")
    if settings.intent is None:
        seeded: SettingsOverride = {**EVERY_RULE, "intent": "seeded"}
        yield _Hypothesis(seeded, "if the program wants to repeat", "it seeds nothing for its run")
    target = described(project.target).partition(" (")[0]
    any_torch: SettingsOverride = {**EVERY_RULE, "target_torch": ">=1.5"}
    yield _Hypothesis(any_torch, "to other versions of torch", f"the project targets {target}")
