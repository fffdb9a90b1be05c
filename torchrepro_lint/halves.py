"""Fixes that would mend one half: who sees that one finding of a rule is mended takes the file for done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from torchrepro_lint.diagnostics import Finding

__all__ = ["BESIDE_ONE_THAT_IS_LEFT", "beside_what_is_left", "without_safe_halves"]

BESIDE_ONE_THAT_IS_LEFT: Final = "the file has another finding of this rule that no safe fix mends: see to both"
#: The rules of which all findings in a file are mended or none, by the beginnings of their codes: what they report of
#: loaders, samplers, splits, listings, seeds and switches that nothing reads. Another switch may be right in one place
#: alone.
_OF_ONE_KIND: Final = ("TRL1", "TRL2", "TRL305", "TRL502")
#: The rules of which also what only the strict profile reports counts: one wrong import stands behind all findings.
_OF_ONE_IMPORT: Final = ("TRL305",)


def without_safe_halves(findings: Sequence[Finding], aside: Iterable[Finding] = ()) -> list[Finding]:
    """The findings, where a fix is unsafe beside another finding of its rule in the file that no safe fix mends. Those
    that only the strict profile reports, put `aside`, count for rules of which one import stands behind all findings.
    """
    mended: list[Finding] = []
    left = [one for one in aside if one.code in _OF_ONE_IMPORT]
    for one in findings:
        (mended if one.is_fixed_safely else left).append(one)
    halves = {id(one) for one in beside_what_is_left(mended, left)}
    return [
        replace(one, fix=one.fix.made_unsafe(BESIDE_ONE_THAT_IS_LEFT))
        if one.fix is not None and id(one) in halves
        else one
        for one in findings
    ]


def beside_what_is_left(mended: Iterable[Finding], left: Iterable[Finding]) -> list[Finding]:
    """Those of the findings to be mended beside which another one of their rule is left in the file."""
    told, every = set[tuple[str, Path]](), set[tuple[str, Path]]()
    for one in left:
        every.add((one.code, one.location.path))
        if not one.is_for_strict_alone or one.code in _OF_ONE_IMPORT:
            told.add((one.code, one.location.path))
    # What only the strict profile reports keeps it from no fix that the default profile makes.
    return [
        one
        for one in mended
        if one.code.startswith(_OF_ONE_KIND)
        and (one.code, one.location.path) in (every if one.is_for_strict_alone else told)
    ]
