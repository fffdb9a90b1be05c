"""Findings that have one cause: who reads the first has read them all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from torchrepro_lint.diagnostics import Applicability, Finding, Fix, TraceStep
from torchrepro_lint.fixes.unsafe_reasons import ANY_ORDER

__all__ = ["first_for_all"]

#: How many of the other places the trace of a finding names.
_MOST_PLACES: Final = 8


def first_for_all(findings: Iterable[tuple[Hashable, Finding]]) -> Iterator[Finding]:
    """The findings, given with what causes them, or None for one that has a cause of its own. Of those with one cause
    the default profile reports the first that it would report. Its trace ends with the places of the others, and its
    fix is made at all of them, where each has one; the `strict` profile reports them all.
    """
    found = list(findings)
    groups: dict[Hashable, list[Finding]] = {}
    for cause, one in found:
        if cause is not None and one.left_to_strict is None:
            groups.setdefault(cause, []).append(one)
    for cause, one in found:
        group = groups.get(cause, []) if one.left_to_strict is None else []
        if len(group) < 2:
            yield one
        elif one is group[0]:
            yield _for_all(one, group[1:])
        else:
            yield replace(one, left_to_strict=(), strict_because="another finding has the same cause and names it")


def _for_all(first: Finding, others: list[Finding]) -> Finding:
    named, more = others[:_MOST_PLACES], len(others) - _MOST_PLACES
    steps = [TraceStep(one.location, "the same here", 0) for one in named]
    if more > 0:
        steps[-1] = replace(steps[-1], note=f"the same here, and in {more} more {'place' if more == 1 else 'places'}")
    return replace(first, trace=(*first.trace, *steps), fix=_fix_of_all((first, *others)))


def _fix_of_all(findings: tuple[Finding, ...]) -> Fix | None:
    """The fixes of all findings as one; that of the first where another has none."""
    fixes = [one.fix for one in findings]
    first = fixes[0]
    made = [one for one in fixes if one is not None]
    if first is None or len(made) < len(fixes):
        return first
    unsafe = next((one for one in made if one.applicability is Applicability.UNSAFE), None)
    edits = tuple(dict.fromkeys(edit for one in made for edit in one.edits))
    fix = replace(first, edits=edits, after=frozenset().union(*(one.after for one in made)))
    return fix.made_unsafe(unsafe.unsafe_because or ANY_ORDER) if unsafe is not None else fix
