"""Applies the user's decisions to the findings of a project: per-file settings, suppression comments, and unwanted
fixes. What the fix of another finding on the same loader brings as well is part of that finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.housekeeping import HOUSEKEEPING, UNREADABLE_FILE, UNUSED_SUPPRESSION
from torchrepro_lint.rule_metadata import Named, RuleMetadata
from torchrepro_lint.selection import is_fixable, is_ignored_in, is_selected
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.cells import python_text
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.noqa import read_directives
from torchrepro_lint.source.text import decode

__all__ = ["Checked", "merged", "settled"]

_NO_GENERATOR: Final = "TRL201"
#: Rules about the workers of a loader, whose fixes may pass a seeded generator beside the worker init function.
_OF_WORKERS: Final = frozenset({"TRL101", "TRL102", "TRL109"})


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of the rules in the files of one project: the findings, the files that may have suppression comments,
    the rules that ran to the end, and all existing rules.
    """

    findings: Sequence[Finding]
    commented: frozenset[Path]
    ran: Sequence[RuleMetadata]
    known: Sequence[RuleMetadata]


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those on a loader without a generator to which the fix of another finding passes one."""
    mended = {one.location for one in findings if one.code in _OF_WORKERS and _passes_a_generator(one)}
    return [one for one in findings if one.code != _NO_GENERATOR or one.location not in mended]


def _passes_a_generator(finding: Finding) -> bool:
    return finding.fix is not None and any("generator=" in edit.content for edit in finding.fix.edits)


def settled(checked: Checked, settings: Settings, overlay: Mapping[Path, str], read: Read) -> Iterator[Finding]:
    """The findings that neither the settings nor a comment suppresses, and a finding for each comment that suppresses
    nothing.

    `overlay` holds texts that replace those on the disk, which `read` reads.
    """
    by_path: dict[Path, list[Finding]] = {path: [] for path in sorted(checked.commented)}
    for finding in checked.findings:
        by_path.setdefault(finding.location.path, []).append(finding)
    for path, group in by_path.items():
        left = merged([finding for finding in group if not is_ignored_in(path, finding, settings)])
        for finding in _in_file(path, left, checked, settings, overlay, read):
            yield finding if finding.fix is None or is_fixable(finding, settings) else _unfixable(finding)


def _in_file(
    path: Path, findings: Sequence[Finding], checked: Checked, settings: Settings, overlay: Mapping[Path, str],
    read: Read,
) -> Iterator[Finding]:  # fmt: skip
    if path not in checked.commented:
        yield from findings
        return
    text = overlay[path] if path in overlay else decode(path, read(path)).text
    directives = read_directives(python_text(path, text))
    silenced = [finding for finding in findings if directives.silencing(finding)]
    yield from (finding for finding in findings if not directives.silencing(finding))
    if not is_selected(UNUSED_SUPPRESSION, settings) or is_ignored_in(path, UNUSED_SUPPRESSION, settings):
        return
    if any(finding.code == UNREADABLE_FILE.code for finding in checked.findings if finding.location.path == path):
        return  # nobody has looked for what its comments would silence
    ran = {rule.code for rule in checked.ran}

    def was_run(rule: Named) -> bool:
        return rule.code in ran and not is_ignored_in(path, rule, settings)

    known = (*checked.known, *HOUSEKEEPING)
    for finding in UNUSED_SUPPRESSION.findings(path, text, directives, silenced, known, was_run):
        # A comment that silences all of the file silences this as well.
        if not directives.silencing(finding):
            yield finding


def _unfixable(finding: Finding) -> Finding:
    return replace(finding, fix=None, fix_declined=f"the settings leave {finding.code} to be mended by hand")
