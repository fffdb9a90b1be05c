"""The sentences at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from torchrepro_lint.diagnostics import Finding

__all__ = ["statistics", "summary", "would_fix"]


def summary(findings: Sequence[Finding], may_fix: Callable[[Finding], bool], fixed: int = 0) -> Iterator[str]:
    """How many findings there are and how many `--fix` would mend. `fixed` are those that this run has mended."""
    left = len(findings)
    if fixed:
        yield f"Found {_count(left + fixed, 'error')} ({fixed} fixed, {left} remaining)."
    elif left:
        yield f"Found {_count(left, 'error')}."
    else:
        yield "All checks passed!"
        return
    now = sum(may_fix(finding) for finding in findings)
    later = sum(finding.fix is not None for finding in findings) - now
    if now:
        more = f" ({later} more with --unsafe-fixes)" if later else ""
        yield f"[*] {now} fixable with --fix{more}."
    elif later:
        yield f"No safe fixes ({later} fixable with --fix --unsafe-fixes)."


def would_fix(fixed: int, left: int) -> str:
    """What a run that only shows its changes would do."""
    remaining = f" ({left} remaining)" if left else ""
    return f"Would fix {_count(fixed, 'error')}{remaining}."


def statistics(findings: Iterable[Finding], may_fix: Callable[[Finding], bool]) -> Iterator[str]:
    """Count, code, whether `--fix` mends all of them, and name, separated by tabs, the most frequent first."""
    findings = list(findings)
    counts = Counter((finding.code, finding.name) for finding in findings)
    stubborn = {finding.code for finding in findings if not may_fix(finding)}
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count}\t{code}\t[{' ' if code in stubborn else '*'}]\t{name}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
