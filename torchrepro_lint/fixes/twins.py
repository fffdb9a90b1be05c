"""Twins: one statement that stands twice among the same lines, at which a rule finds the same.

    # train_small.py                                         # train_large.py
    loader = DataLoader(images, shuffle=True)  # fixed       loader = DataLoader(images, shuffle=True)  # cannot be

They are fixed alike or not at all: who compares the copies would take the difference for one that was meant.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from torchrepro_lint.diagnostics import Applicability, Finding
from torchrepro_lint.source.text import split_lines

__all__ = ["FIXED_OTHERWISE", "TWIN_IS_LEFT", "unlike_twins"]

TWIN_IS_LEFT = "a copy of these lines has the same finding, which cannot be fixed: they would differ"
FIXED_OTHERWISE = "a copy of these lines would be seeded with something else: they would differ"

#: How many lines above and below a statement, blank ones aside, show what it is a copy of: those that a diff shows.
LINES_AROUND = 3
#: Which share of their words these lines have in common, at least, where one statement is a copy of the other.
MIN_ALIKE = 0.6
#: From how many words on such lines show it.
MIN_WORDS = 6
_SEED = re.compile(r"\bmanual_seed\((.*)\)\s*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_LAYOUT = re.compile(r"\s+|,(?=\s*[)\]}])")


def unlike_twins(
    fixed: Sequence[Finding], left: Sequence[Finding], text: Callable[[Path], str]
) -> list[tuple[Finding, str]]:
    """Those of the findings to be fixed of which a twin is left, or would be fixed with another seed, and why they are
    to be left as well. `text` gives the Python text of a file.
    """
    lines = cache(lambda path: split_lines(text(path)))

    @cache
    def around(path: Path, first: int, last: int) -> Counter[str]:
        above = [line for line in lines(path)[: first - 1] if line.strip()][-LINES_AROUND:]
        below = [line for line in lines(path)[last:] if line.strip()][:LINES_AROUND]
        return Counter(_WORD.findall(" ".join((*above, *below))))

    def are_copies(one: Finding, other: Finding) -> bool:
        if one.location.path == other.location.path and one.location.start == other.location.start:
            return False  # two findings of one place
        here, there = (around(each.location.path, *_rows(each)) for each in (one, other))
        if min(here.total(), there.total()) < MIN_WORDS:
            return False
        return 2 * (here & there).total() >= MIN_ALIKE * (here.total() + there.total())

    groups: defaultdict[tuple[str, str], tuple[list[Finding], list[Finding]]] = defaultdict(lambda: ([], []))
    codes = {one.code for one in fixed}
    beside = [one for one in left if one.code in codes]  # not what says that a file cannot be read
    for findings, is_left in ((fixed, False), (beside, True)):
        for finding in findings:
            first, last = _rows(finding)
            statement = _LAYOUT.sub("", "".join(lines(finding.location.path)[first - 1 : last]))
            groups[finding.code, statement][is_left].append(finding)
    found: list[tuple[Finding, str]] = []
    for ours, others in groups.values():
        seeds = {id(one): _seeds(one) for one in ours}
        for one in ours:
            if any(_counts_beside(one, other) and are_copies(one, other) for other in others):
                found.append((one, TWIN_IS_LEFT))
            elif any(
                one.location.path != other.location.path
                and seeds[id(one)] != seeds[id(other)]
                and are_copies(one, other)
                for other in ours
            ):  # in one file numbers tell them apart
                found.append((one, FIXED_OTHERWISE))
    return found


def _counts_beside(one: Finding, other: Finding) -> bool:
    """Whether a finding that is left is told apart from one that is fixed: not one whose fix is unsafe in another file,
    as in a copy that was put aside.
    """
    is_unsafe = other.fix is not None and other.fix.applicability is not Applicability.SAFE
    return not is_unsafe or one.location.path == other.location.path


def _rows(finding: Finding) -> tuple[int, int]:
    return finding.statement_rows or (finding.location.start.row, finding.location.end.row)


def _seeds(finding: Finding) -> frozenset[str]:
    """What the fix of a finding seeds with."""
    edits = finding.fix.edits if finding.fix is not None else ()
    return frozenset(seed for edit in edits for seed in _SEED.findall(edit.content))
