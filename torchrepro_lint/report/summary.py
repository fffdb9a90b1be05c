"""The sentences at the end of a run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Finding, LeftToStrict, Severity
from torchrepro_lint.report.texts import Texts

__all__ = [
    "RuleCount",
    "by_severity",
    "fix_summary",
    "left_to_strict",
    "list_fixes",
    "statistics",
    "statistics_json",
    "statistics_text",
    "summary",
    "unseeded",
]


def by_severity(findings: Iterable[Finding]) -> str:
    """`2 errors and 1 warning`, without those that there are none of; `0 errors` where there is nothing."""
    counts = Counter(finding.severity for finding in findings)
    return " and ".join(counted(counts[one], one.value) for one in Severity if counts[one]) or "0 errors"


_SHOWN_PROGRAMS = 3


def unseeded(programs: Sequence[Path], texts: Texts) -> str:
    """`2 programs seed nothing for their runs (a.py, b.py)`, with the names of the first ones."""
    what = "program seeds nothing for its run" if len(programs) == 1 else "programs seed nothing for their runs"
    return f"{len(programs)} {what} ({_listed(programs, texts)})"


def _listed(files: Sequence[Path], texts: Texts) -> str:
    """The names of the first of the files, and how many more there are."""
    names = [texts.name(path) for path in files[:_SHOWN_PROGRAMS]]
    more = len(files) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def left_to_strict(left: LeftToStrict, texts: Texts) -> str | None:
    """The lines about programs that do not show that they want to repeat, and about files that are no modules of
    today's Python; None where nothing is left out for them.
    """
    lines = []
    if left.findings:
        told = f"--profile strict shows {counted(left.findings, 'finding')} about that"
        lines.append(f"{unseeded(left.programs, texts)}: {told}.")
    if left.unread:
        one = len(left.unread) == 1
        what = "file cannot be read, or not in each cell" if one else "files cannot be read, or not in each cell"
        why = "for an older Python, unfinished, a template or without torch"
        lines.append(f"{len(left.unread)} {what} ({_listed(left.unread, texts)}), {why}: --profile strict shows where.")
    return "\n".join(lines) or None


def summary(
    findings: Sequence[Finding],
    may_fix: Callable[[Finding], bool],
    fixed: Sequence[Finding] = (),
    known: int = 0,
    left_out: str | None = None,
    once: Sequence[Finding] | None = None,
) -> Iterator[str]:
    """How many errors and warnings there are, and how many of them `--fix` would fix. `fixed` are those that this run
    has fixed; `known` is how many a baseline has hidden; `left_out` is what `left_to_strict` says; `once` are the
    findings without those that copies of a notebook or a script repeat.
    """
    yield from _counts(findings, may_fix, fixed, known, findings if once is None else once, passed=left_out is None)
    if left_out is not None:
        yield left_out


def _counts(
    findings: Sequence[Finding],
    may_fix: Callable[[Finding], bool],
    fixed: Sequence[Finding],
    known: int,
    once: Sequence[Finding],
    *,
    passed: bool,
) -> Iterator[str]:
    left = len(findings)
    hidden = f" {counted(known, 'known finding')} of the baseline not shown." if known else ""
    if fixed:
        yield f"Found {by_severity((*fixed, *findings))} ({len(fixed)} fixed, {left} remaining).{hidden}"
    elif left:
        repeated = f", and {left - len(once)} more that copies of the same code repeat" if len(once) < left else ""
        yield f"Found {by_severity(once)}{repeated}.{hidden}"
    else:
        yield f"{'All checks passed!' if passed else 'Found no errors or warnings.'}{hidden}"
        return
    now = sum(may_fix(finding) for finding in findings)
    later = sum(finding.fix is not None for finding in findings) - now
    if now:
        more = f" ({later} more with --unsafe-fixes)" if later else ""
        yield f"[*] {now} fixable with --fix{more}."
    elif later:
        yield f"No safe fixes ({later} fixable with --fix --unsafe-fixes)."


def fix_summary(
    fixed: Sequence[Finding], left: Sequence[Finding], may_fix: Callable[[Finding], bool], *, written: bool
) -> str:
    """What a run did that only fixes, or would do that only shows its changes, and what it left for a later one."""
    verb = "Fixed" if written else "Would fix"
    notes = [f"{len(left)} remaining"] if left else []
    more = sum(finding.fix is not None and not may_fix(finding) for finding in left)
    if more:
        notes.append(f"{more} fixable with --unsafe-fixes")
    return f"{verb} {by_severity(fixed)}" + (f" ({', '.join(notes)})." if notes else ".")


def list_fixes(fixed: Sequence[Finding], texts: Texts, *, written: bool) -> Iterator[str]:
    """The findings that were fixed, counted by file and rule."""
    if not fixed:
        return
    yield f"{'Fixed' if written else 'Would fix'} {by_severity(fixed)}:"
    for path, group in groupby(sorted(fixed, key=lambda one: one.sort_key), key=lambda one: one.location.path):
        yield f"- {texts.name(path)}:"
        counts = Counter((finding.code, finding.name) for finding in group)
        for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            yield f"    {count} x {code} ({name})"
    yield ""


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How often a rule found something; `fixable` says whether `--fix` fixes all of it, `fixable_count` how much."""

    code: str
    name: str
    count: int
    fixable: bool
    fixable_count: int


def statistics(findings: Iterable[Finding], may_fix: Callable[[Finding], bool]) -> list[RuleCount]:
    """The findings of each rule, the most frequent first."""
    findings = list(findings)
    counts = Counter((finding.code, finding.name) for finding in findings)
    mended = Counter(finding.code for finding in findings if may_fix(finding))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [RuleCount(code, name, count, mended[code] == count, mended[code]) for (code, name), count in ordered]


def statistics_text(counts: Iterable[RuleCount]) -> Iterator[str]:
    """Count, code, a star where `--fix` fixes all of them, and name, separated by tabs."""
    for one in counts:
        yield f"{one.count}\t{one.code}\t[{'*' if one.fixable else ' '}]\t{one.name}"


def statistics_json(counts: Iterable[RuleCount]) -> Iterator[str]:
    """The same as a list of objects, with the field names of ruff."""
    yield json.dumps([asdict(one) for one in counts], indent=2)
