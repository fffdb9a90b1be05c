"""Fixes that would mend one half: who sees that one finding of a rule is mended takes the file for done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from torchrepro_lint.diagnostics import Applicability, Finding

__all__ = ["BESIDE_ONE_THAT_IS_LEFT", "OF_ONE_KIND", "without_safe_halves"]

BESIDE_ONE_THAT_IS_LEFT: Final = "the file has another finding of this rule that no safe fix mends: see to both"
#: The rules of which all findings in a file are mended or none, by the beginnings of their codes: what they report of
#: loaders, samplers, splits, listings, seeds and switches that nothing reads. Another switch may be right in one place
#: alone.
OF_ONE_KIND: Final = ("TRL1", "TRL2", "TRL305", "TRL502")


def without_safe_halves(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, where a fix is unsafe beside another finding of its rule in the file that no safe fix mends."""
    left = {(one.code, one.location.path) for one in findings if not _is_mended(one)}
    return [
        replace(one, fix=replace(one.fix, applicability=Applicability.UNSAFE))
        if one.fix is not None
        and _is_mended(one)
        and one.code.startswith(OF_ONE_KIND)
        and (one.code, one.location.path) in left
        else one
        for one in findings
    ]


def _is_mended(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE
