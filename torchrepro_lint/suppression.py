"""Applies the user's decisions to the findings of a project: per-file settings, suppression comments, and unwanted
fixes. What the fix of another finding on the same loader brings as well is part of that finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.housekeeping import HOUSEKEEPING, UNREADABLE_FILE, UNUSED_SUPPRESSION
from torchrepro_lint.housekeeping.unused_suppression import Silenced
from torchrepro_lint.rule_metadata import Named, RuleMetadata
from torchrepro_lint.selection import is_fixable, is_ignored_in, is_selected
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.cells import python_text
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.noqa import Directives, may_silence, read_directives
from torchrepro_lint.source.text import SourceError, decode

__all__ = ["NO_GENERATOR", "OF_WORKERS", "Checked", "merged", "settled"]

NO_GENERATOR: Final = "TRL201"
#: Rules about the workers of a loader, whose fixes may pass a seeded generator beside the worker init function.
OF_WORKERS: Final = frozenset({"TRL101", "TRL102", "TRL109"})


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of the rules in the files of one project: the findings, the files that may have suppression comments,
    the rules that ran to the end, and all existing rules. `elsewhere` are findings in other files whose proof goes
    through one of these. `files` are those whose findings these are.
    """

    findings: Sequence[Finding]
    commented: frozenset[Path]
    ran: Sequence[RuleMetadata]
    known: Sequence[RuleMetadata]
    elsewhere: Sequence[Finding] = ()
    files: frozenset[Path] = frozenset()


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those on a loader without a generator of whose workers another finding speaks: whoever has
    that loader before them reads one finding, and what its fix leaves is reported afterwards.
    """
    of_workers = [one for one in findings if one.code in OF_WORKERS]
    every = {one.location for one in of_workers}
    by_default = {one.location for one in of_workers if one.left_to_strict is None}
    return [
        one
        for one in findings
        if one.code != NO_GENERATOR or one.location not in (by_default if one.left_to_strict is None else every)
    ]


def settled(
    checked: Checked, settings: Settings, overlay: Mapping[Path, str], read: Read
) -> tuple[list[Finding], list[Finding]]:
    """The findings, and those elsewhere, that neither the settings nor a comment suppresses, the first with a finding
    for each comment that suppresses nothing.

    `overlay` holds texts that replace those on the disk, which `read` reads.
    """
    comments = _Comments(checked, overlay, read)
    used: dict[Path, list[Silenced]] = {}

    def is_silenced(finding: Finding) -> bool:
        found = comments.silencing(finding) if not settings.ignore_noqa else {}
        for path, silenced in found.items():
            used.setdefault(path, []).append(silenced)
        return bool(found)

    left: list[Finding] = []
    by_path: dict[Path, list[Finding]] = {path: [] for path in sorted(checked.commented)}
    for finding in checked.findings:
        by_path.setdefault(finding.location.path, []).append(finding)
    for path, group in by_path.items():
        every = [finding for finding in group if not is_ignored_in(path, finding, settings)]
        told = merged(every)
        # A comment about what another finding speaks for silences something all the same.
        left += [finding for finding in every if not is_silenced(finding) and finding in told]
    others = [one for one in checked.elsewhere if not is_ignored_in(one.location.path, one, settings)]
    elsewhere = [one for one in merged(others) if not is_silenced(one)]
    for path in sorted(checked.commented) if not settings.ignore_noqa else ():
        left += _unused(path, checked, settings, comments, used.get(path, ()))
    return [one if one.fix is None or is_fixable(one, settings) else _unfixable(one) for one in left], elsewhere


class _Comments:
    """The comments that silence, of the files in which findings are or through which their proofs go."""

    def __init__(self, checked: Checked, overlay: Mapping[Path, str], read: Read) -> None:
        self._own = {finding.location.path for finding in checked.findings}
        self._commented = checked.commented
        self._overlay = overlay
        self._read = read
        self._found: dict[Path, Directives] = {}

    def text(self, path: Path) -> str:
        return self._overlay[path] if path in self._overlay else decode(path, self._read(path)).text

    def of(self, path: Path) -> Directives:
        """The directives of a file; none where it cannot be read."""
        if path not in self._found:
            self._found[path] = Directives()
            with suppress(SourceError):
                if path in self._commented or (path not in self._own and self._may_silence(path)):
                    self._found[path] = read_directives(python_text(path, self.text(path)))
        return self._found[path]

    def silencing(self, finding: Finding) -> dict[Path, Silenced]:
        """What silences a finding, by file: a comment at its place, or at a step of its proof if it names the rule."""
        own = finding.location.path
        here = self.of(own).silencing(finding)
        found: dict[Path, Silenced] = {own: (finding, here)} if here else {}
        for step in finding.trace:
            path = step.location.path
            at_step = [one for one in self.of(path).at(step.location.start.row) if one.words and one.covers(finding)]
            if at_step:
                known = found.get(path, (finding, []))[1]
                found[path] = (finding, [*known, *at_step])
        return found

    def _may_silence(self, path: Path) -> bool:
        return may_silence(self._overlay[path].encode() if path in self._overlay else self._read(path))


def _unused(
    path: Path, checked: Checked, settings: Settings, comments: _Comments, silenced: Sequence[Silenced]
) -> Iterator[Finding]:
    """A finding for each comment of a file that suppresses nothing."""
    if not is_selected(UNUSED_SUPPRESSION, settings) or is_ignored_in(path, UNUSED_SUPPRESSION, settings):
        return
    if any(finding.code == UNREADABLE_FILE.code for finding in checked.findings if finding.location.path == path):
        return  # nobody has looked for what its comments would silence
    ran = {rule.code for rule in checked.ran}
    directives = comments.of(path)

    def was_run(rule: Named) -> bool:
        return rule.code in ran and not is_ignored_in(path, rule, settings)

    known = (*checked.known, *HOUSEKEEPING)
    for finding in UNUSED_SUPPRESSION.findings(path, comments.text(path), directives, silenced, known, was_run):
        # A comment that silences all of the file silences this as well.
        if not directives.silencing(finding):
            yield finding


def _unfixable(finding: Finding) -> Finding:
    return replace(finding, fix=None, fix_declined=f"the settings leave {finding.code} to be mended by hand")
