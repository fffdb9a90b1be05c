"""One attempt to fix: the texts with some fixes applied, checked in memory, or why these fixes are rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.copies_elsewhere import CopiesElsewhere
from torchrepro_lint.diagnostics import Edit, Finding, Fix, TorchReproLintError
from torchrepro_lint.engine import Report, RunOptions, check
from torchrepro_lint.fix_report import RejectedFix, counts, kind
from torchrepro_lint.fixes.apply import apply_edits, merge_edits, touched_rows
from torchrepro_lint.fixes.twins import rows_of, unlike_twins
from torchrepro_lint.halves import BESIDE_ONE_THAT_IS_LEFT, beside_what_is_left
from torchrepro_lint.left_elsewhere import are_of_one_kind, beside_a_rejected_fix
from torchrepro_lint.settings import EVERY_RULE, SettingsOverride
from torchrepro_lint.source.cells import is_notebook, python_text, why_not_written
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.text import Source, SourceError, decode, split_lines
from torchrepro_lint.suppression import NO_GENERATOR, OF_WORKERS
from torchrepro_lint.toolkit import Toolkit

__all__ = ["Attempts", "Chosen", "Rejection", "why_refused"]

# Of one loader, or of one generator that is not seeded, one finding is reported: which rules are silent beside another.
_SPOKEN_FOR = {
    "TRL101": ("TRL102", "TRL201"),
    "TRL102": ("TRL201",),
    "TRL106": ("TRL102", "TRL103", "TRL104", "TRL105", "TRL201"),
    "TRL109": ("TRL201",),
    "TRL502": ("TRL202", "TRL209"),
}
_HEARD = {**dict.fromkeys(OF_WORKERS, (NO_GENERATOR,)), "TRL502": _SPOKEN_FOR["TRL502"]}
_OTHER_ARM = "what the other arm of the `if` makes cannot be fixed, and half of the runs would stay as they are"
# A finding, and its fix.
Chosen: TypeAlias = tuple[Finding, Fix]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why fixes are not applied, and those of them that it may be due to: at least one."""

    reason: str
    suspects: Sequence[Chosen]


@dataclass(slots=True)
class Attempts:
    """The texts that fixes are tried on, and what came of it so far.

    `only` is the one file that may change; None if any may. `sources` are the files as they were read, `overlay` the
    texts of those that are replaced or have changed. `contents` are the bytes that all rounds look at: a file that is
    saved meanwhile is not seen, and not written. A link that leads out of its project is only written through with
    `through_links`, or where the file is one of those whose text was `given`. `rejected` are fixes that were tried and
    did no good, by what does not change when other fixes are applied; so are the findings whose fixes were `accepted`,
    in the order in which these were applied. `joined` are the files that one fix changes, or
    imports from. `checks` counts the checks. `copies` is what the repository holds beside the files asked about.
    """

    paths: Sequence[Path]
    override: SettingsOverride
    toolkit: Toolkit
    projects: Projects
    run: RunOptions
    only: Path | None
    sources: dict[Path, Source]
    overlay: dict[Path, str]
    through_links: bool = False
    contents: Contents = field(default_factory=Contents)
    rejected: dict[tuple[object, ...], RejectedFix] = field(default_factory=dict)
    accepted: dict[tuple[object, ...], Finding] = field(default_factory=dict)
    checks: int = 0
    given: Set[Path] = frozenset()
    joined: list[set[Path]] = field(default_factory=list)
    _strict_projects: Projects | None = None
    _by_every_rule: list[tuple[Mapping[Path, str], dict[Path, list[Finding]]]] = field(default_factory=list)
    _refusals: dict[tuple[object, ...], str | None] = field(default_factory=dict)
    copies: CopiesElsewhere = field(init=False)

    def __post_init__(self) -> None:
        self.copies = CopiesElsewhere(self)

    def check(self, overlay: Mapping[Path, str], fixed: Sequence[Finding] = ()) -> Report:
        """The report on the texts, from which some findings are `fixed`. The number of checks is not known in advance,
        so each takes half of what is left of the progress bar.
        """
        left = 0.5**self.checks
        note = "with the fixes: " if self.checks else ""
        self.checks += 1
        run = replace(
            self.run, progress=lambda share, what: self.run.progress(1 - left + share * left / 2, f"{note}{what}")
        )
        return check(
            self.paths, self.override, overlay=overlay, projects=self.projects, toolkit=self.toolkit,
            contents=self.contents, fixed=fixed, run=run,
        )  # fmt: skip

    def applicable(self, report: Report) -> list[Chosen]:
        """The findings that may be fixed and whose fix was not rejected, with their fixes."""
        for finding in report.findings:
            if finding.fix is not None and report.may_fix(finding):
                self.joined.append({*(edit.path for edit in finding.fix.edits), *finding.fix.after})
                if (reason := self._leads_out(finding.fix)) is not None:
                    self.rejected.setdefault(self.key(finding), RejectedFix(finding, reason))
        left: dict[Path, list[Finding]] = {}
        fixed: dict[Path, list[Finding]] = {}
        for finding in report.findings:
            group = fixed if self._is_applicable(report, finding) else left
            group.setdefault(finding.location.path, []).append(finding)
        for finding in report.untold:
            left.setdefault(finding.location.path, []).append(finding)
        both = fixed.keys() & left.keys()
        if both:
            # Imported here: libcst, which it needs, is not loaded where there is nothing to fix.
            from torchrepro_lint.fixes.arms import beside_an_unfixed_arm
        for path in both:
            for finding in beside_an_unfixed_arm(python_text(path, self.text(path)), fixed[path], left[path]):
                self.rejected[self.key(finding)] = RejectedFix(finding, _OTHER_ARM)
        self.reject_unlike_twins(report)
        return [
            (finding, finding.fix)
            for finding in report.findings
            if finding.fix is not None and self._is_applicable(report, finding)
        ]

    def reject_unlike_twins(self, report: Report) -> bool:
        """Rejects the fixes of findings of which a copy of the code keeps the same one, and safe ones beside another
        finding of the rule in the file that is left; whether there are any.
        """
        fixed = [one for one in report.findings if self._is_applicable(report, one)]
        left = [one for one in report.findings if one.fix is None or not self.may_be_fixed(report, one)]
        if not fixed:
            return False
        known = set(map(id, (*fixed, *left)))
        elsewhere = [one for one in report.findings if id(one) not in known]
        others = self.copies.beside(fixed)
        elsewhere += [one for one in others.findings if self.may_be_fixed(others, one)]
        left += [one for one in others.findings if not self.may_be_fixed(others, one)]
        left += (*report.untold, *others.untold)
        unlike = unlike_twins(fixed, left, self.python_text, self.copies.files_alike, elsewhere)
        for finding, reason in unlike:
            self.rejected[self.key(finding)] = RejectedFix(finding, reason)
        beside = [
            one
            for one in beside_what_is_left(fixed, (*left, *(one for one, _ in unlike)))
            if one.location.path not in report.unsafe_allowed and self.key(one) not in self.rejected
        ]
        for finding in beside:
            self.rejected[self.key(finding)] = RejectedFix(finding, BESIDE_ONE_THAT_IS_LEFT)
        return self._reject_beside_rejected(report, fixed) or bool(unlike or beside)

    def _reject_beside_rejected(self, report: Report, fixed: Sequence[Finding]) -> bool:
        """Rejects the safe fixes beside another place of their kind in the repository, whose own one was tried and
        rejected; whether there are any.
        """
        tried = [one.finding for one in self.rejected.values()]
        found = False
        for one in fixed:
            if one.location.path in report.unsafe_allowed or self.key(one) in self.rejected or not self.toolkit.is_own:
                continue
            root = self.copies.repository(one.location.path)
            others = (each for each in tried if self.copies.repository(each.location.path) == root)
            other = next((each for each in others if are_of_one_kind(one, each)), None)
            if other is not None:
                self.rejected[self.key(one)] = RejectedFix(one, beside_a_rejected_fix(other, root))
                found = True
        return found

    def reject_halves(self, report: Report) -> bool:
        """Rejects the safe fixes that were accepted and beside which a place of their kind is left in the end; whether
        there are any.
        """
        halves = {(one.code, one.location, one.message): one for one in report.halves}
        found = False
        for key, one in self.accepted.items():
            half = halves.get((one.code, one.location, one.message))
            if half is not None and half.fix is not None and one.location.path not in report.unsafe_allowed:
                self.rejected[key] = RejectedFix(one, half.fix.unsafe_because or BESIDE_ONE_THAT_IS_LEFT)
                found = True
        return found

    def written_with(self, path: Path) -> set[Path]:
        """The files that must not be written where `path` is not: a fix changes both, or one imports from the other."""
        found = {path}
        while more := {other for group in self.joined if not found.isdisjoint(group) for other in group} - found:
            found |= more
        return found

    def _leads_out(self, fix: Fix) -> str | None:
        """Why a fix would write where the project does not lie, None where it would not."""
        if self.through_links or self.only is not None:
            return None
        for path in dict.fromkeys(edit.path for edit in fix.edits):
            if path not in self.given and (reason := self.projects.why_outside(path)) is not None:
                return reason
        return None

    def _to_be_fixed(self, report: Report, chosen: Sequence[Chosen]) -> set[Path]:
        """The files that the chosen fixes edit, and those that others edit which are still to be tried."""
        fixes = [one.fix for one in report.findings if one.fix is not None and self._is_applicable(report, one)]
        return {edit.path for fix in (*fixes, *(fix for _, fix in chosen)) for edit in fix.edits}

    def _is_applicable(self, report: Report, finding: Finding) -> bool:
        if finding.fix is None or not self.may_be_fixed(report, finding):
            return False
        return self.only is None or all(edit.path == self.only for edit in finding.fix.edits)

    def may_be_fixed(self, report: Report, finding: Finding) -> bool:
        """Whether a fix is asked for and was not rejected, in whatever files it is."""
        return report.may_fix(finding) and self.key(finding) not in self.rejected

    def text(self, path: Path) -> str:
        """The text of a file as it is now, after the fixes that were accepted."""
        if path in self.overlay:
            return self.overlay[path]
        if path not in self.sources:
            self.sources[path] = decode(path, self.contents(path))
        return self.sources[path].text

    def python_text(self, path: Path) -> str:
        """The Python of a file as it is now: of a notebook, that of its cells."""
        return python_text(path, self.text(path))

    def others(self, path: Path) -> Iterator[bytes]:
        """The other files of the project of a file, as far as they can be read."""
        for other in self.projects.of(path).files:
            with suppress(SourceError):
                if other != path:
                    yield self.overlay[other].encode() if other in self.overlay else self.contents(other)

    def key(self, finding: Finding) -> tuple[object, ...]:
        """What does not change of a finding and its fix when other fixes move it."""
        lines = split_lines(self.text(finding.location.path))
        row = finding.location.start.row
        line = lines[row - 1].strip() if row <= len(lines) else ""
        edits = tuple(edit.content for edit in finding.fix.edits) if finding.fix else ()
        return (finding.code, finding.location.path, line, edits)

    def rejected_in(self, report: Report) -> tuple[RejectedFix, ...]:
        """The fixes that were rejected, in the order of findings; not those whose findings other fixes have removed."""
        left = {self.key(finding) for finding in report.findings if finding.fix is not None} if self.rejected else set()
        rejected = (one for key, one in self.rejected.items() if key in left)
        return tuple(sorted(rejected, key=lambda one: one.finding.sort_key))

    def with_reasons(self, report: Report) -> Report:
        """The report, with the reason added to the findings whose fix was rejected."""
        if not self.rejected:
            return report
        return replace(report, findings=tuple(self._declined(finding) for finding in report.findings))

    def _declined(self, finding: Finding) -> Finding:
        rejected = self.rejected.get(self.key(finding)) if finding.fix is not None else None
        return finding if rejected is None else replace(finding, fix=None, fix_declined=rejected.reason)

    def applied_alone(self, fix: Fix) -> dict[Path, str] | str:
        """The texts with one fix applied that is for no finding, or why it cannot be applied."""
        texts = dict(self.overlay)
        for path, edits in merge_edits([fix]).items():
            new = self._with_edits(path, edits)
            if isinstance(new, _Refusal):
                return new.reason
            texts[path] = new
        return texts

    def applied(self, chosen: Sequence[Chosen]) -> dict[Path, str] | Rejection:
        """The texts with the chosen fixes applied, or why they cannot be applied."""
        texts = dict(self.overlay)
        for path, edits in merge_edits(fix for _, fix in chosen).items():
            new = self._with_edits(path, edits)
            if isinstance(new, _Refusal):
                return Rejection(new.reason, _editing(chosen, path))
            texts[path] = new
        return texts

    def _with_edits(self, path: Path, edits: Sequence[Edit]) -> str | _Refusal:
        """The text of a file after edits, or why it is refused; each text is looked at once."""
        old = self.text(path)
        if path in self.sources and not self.sources[path].survives:
            return _Refusal(f"{path.name} does not survive decoding and encoding")
        try:
            new = apply_edits(old, edits)
            self.sources[path].encode(new)
        except (ValueError, TorchReproLintError) as error:
            return _Refusal(str(error))
        key = (path, old, *edits)
        if key not in self._refusals:
            self._refusals[key] = why_refused(path, old, new, edits)
        refusal = self._refusals[key]
        return new if refusal is None else _Refusal(refusal)

    def attempt(self, report: Report, chosen: Sequence[Chosen]) -> tuple[dict[Path, str], Report] | Rejection:
        """The texts and the report after the chosen fixes, or why they are rejected.

        Each of their findings must be gone, and a new finding must be one that the next round can fix.
        """
        texts = self.applied(chosen)
        if isinstance(texts, Rejection):
            return texts
        # Asked before the texts are replaced: what is known of them is in memory now.
        before = self._by_every_rule_in(self.overlay, self._to_be_fixed(report, chosen))
        after = self.check(texts, [*self.accepted.values(), *(finding for finding, _ in chosen)])
        if len(after.errors) > len(report.errors):
            return Rejection("the result cannot be checked", chosen)
        before_count, after_count = counts(report), counts(after)
        fixed = Counter(kind(finding) for finding, _ in chosen)
        left = {one for one, number in fixed.items() if after_count[one] > before_count[one] - number}
        if left:
            return Rejection("the finding would stay", [one for one in chosen if kind(one[0]) in left])
        # Silent so far beside what is fixed: see `suppression.merged`.
        heard = {code for finding, _ in chosen for code in _HEARD.get(finding.code, ())}
        for finding in after.findings:
            one = kind(finding)
            if after_count[one] > before_count[one] and not after.may_fix(finding) and finding.code not in heard:
                return Rejection(_brought_up(texts, chosen, finding), _editing(chosen, finding.location.path))
        return self._causing_more(texts, chosen, after, before) or (texts, after)

    def _causing_more(
        self,
        texts: Mapping[Path, str],
        chosen: Sequence[Chosen],
        after: Report,
        before: Mapping[Path, Sequence[Finding]],
    ) -> Rejection | None:
        """Why fixes are rejected that cause a finding of any rule, in any profile, in the statements that they touch.
        One that the next round fixes is none, nor one that the finding which is gone has spoken for.
        """
        edits = merge_edits(one for _, one in chosen)
        next_round = {(one.code, one.location) for one in after.findings if after.may_fix(one)}
        spoken_for = {code for finding, _ in chosen for code in _SPOKEN_FOR.get(finding.code, ())}
        for path, found in self._by_every_rule_in(texts, edits.keys()).items():
            rows = touched_rows(texts[path], edits[path])
            earlier, number = Counter(one.code for one in before[path]), Counter(one.code for one in found)
            for one in found:
                is_new = number[one.code] > earlier[one.code] and (one.code, one.location) not in next_round
                if is_new and one.code not in spoken_for and not rows.isdisjoint(rows_of(one)):
                    return Rejection(_other_fault(one), _editing(chosen, path))
        return None

    def _by_every_rule_in(self, texts: Mapping[Path, str], paths: Set[Path]) -> dict[Path, list[Finding]]:
        """What all rules find in some files under the strict profile, whatever the settings ignore."""
        known = next((found for of, found in self._by_every_rule if of == texts), None)
        if known is None:
            known = {}
            self._by_every_rule = [one for one in self._by_every_rule if one[0] == self.overlay]
            self._by_every_rule.append((texts, known))
        unknown = frozenset(paths - known.keys())
        if unknown:
            override: SettingsOverride = {**self.override, **EVERY_RULE, "ignore": ()}
            self._strict_projects = self._strict_projects or Projects(override)
            report = check(
                self.paths, override, overlay=texts, projects=self._strict_projects, toolkit=self.toolkit,
                contents=self.contents, only=unknown, run=RunOptions(jobs=self.run.jobs),
            )  # fmt: skip
            known.update((path, []) for path in unknown)
            for finding in report.findings:
                known[finding.location.path].append(finding)
        return {path: known[path] for path in paths}


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a text is not written."""

    reason: str


def _other_fault(finding: Finding) -> str:
    """Why fixes are rejected that cause this finding: in its own words, as a code alone says nothing to a reader."""
    return f"the fixed program would have another fault: {finding.message} ({finding.code})"


def _brought_up(texts: Mapping[Path, str], chosen: Sequence[Chosen], finding: Finding) -> str:
    """The same, where it may be about lines that the fixes leave as they are: then it was only not reported before."""
    path = finding.location.path
    edits = merge_edits(fix for _, fix in chosen).get(path, [])
    if edits and not touched_rows(texts[path], edits).isdisjoint(rows_of(finding)):
        return _other_fault(finding)
    return f"the fix would bring up another finding, which comes first: {finding.message} ({finding.code})"


def why_refused(path: Path, old: str, new: str, edits: Sequence[Edit]) -> str | None:
    """Why a text must not be written in the place of the old one, or None if it may."""
    from torchrepro_lint.fixes.verified import verify_edit

    return why_not_written(path, old, new) or verify_edit(
        python_text(path, old), python_text(path, new), edits, awaits=is_notebook(path)
    )


def _editing(chosen: Sequence[Chosen], path: Path) -> Sequence[Chosen]:
    """The fixes that edit a file; all if none does."""
    return [one for one in chosen if any(edit.path == path for edit in one[1].edits)] or chosen
