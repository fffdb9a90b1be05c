"""The linter's fixes for what makes runs differ: looked for, tried on texts in memory, and written at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.engine import Report, RunOptions
from torchrepro_lint.fix_attempts import Attempts, Rejection
from torchrepro_lint.fix_loop import tidied, toolkit_that_keeps_programs, write_changes
from torchrepro_lint.fix_report import Change
from torchrepro_lint.settings import EVERY_RULE, SettingsOverride
from torchrepro_lint.source.cells import python_text
from torchrepro_lint.source.project import Projects
from torchrepro_lint.verify.repair.result import Refused
from torchrepro_lint.verify.repair.streams import seeds
from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.entries import MAIN, Place
from torchrepro_lint.verify.script.findings import DEAD_SEED, PATIENCE, Link, explanations, files_in_question, rules_for
from torchrepro_lint.verify.script.result import Result
from torchrepro_lint.verify.script.time_limit import time_limit

if TYPE_CHECKING:
    from torchrepro_lint.fixes.document import Document

# A fix that only a person should judge is judged here by running the script.
_OVERRIDE: SettingsOverride = {**EVERY_RULE, "unsafe_fixes": True}
_SEEDED_BY_A_LINE = {"random": "python", "numpy": "numpy", "torch": "torch"}
_OF_PROGRAMS = "TRL5"  # rules about the seeds of whole programs: those of another program explain nothing
_BESIDE = ("random.seed", "numpy.random.seed", "torch.manual_seed")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fix that the linter's own checks let pass, with the texts and the report that result; `link` is its finding,
    None for the canonical lines that seed.
    """

    link: Link | None
    fix: Fix
    texts: Mapping[Path, str]
    report: Report


class Fixer:
    """Fixes for one script, whose runs start in `folder`. `entry` is its file, None where that is not known."""

    def __init__(self, folder: str, entry: Path | None) -> None:
        self._folder = os.path.realpath(folder)
        self._entry = entry
        self._projects = Projects(_OVERRIDE)
        self._attempts = Attempts(
            paths=[],
            override=_OVERRIDE,
            toolkit=toolkit_that_keeps_programs(),
            projects=self._projects,
            run=RunOptions(),
            only=None,
            sources={},
            overlay={},
        )
        self._report: Report | None = None

    @property
    def texts(self) -> Mapping[Path, str]:
        """The texts with the fixes that were accepted, by path."""
        return self._attempts.overlay

    @property
    def changes(self) -> tuple[Change, ...]:
        """The files that the fixes change."""
        sources = self._attempts.sources
        return tuple(
            Change(sources[path], text) for path, text in sorted(self.texts.items()) if text != sources[path].text
        )

    def files(self, texts: Mapping[Path, str]) -> dict[str, bytes]:
        """The contents of changed files, by their names relative to the folder."""
        sources = self._attempts.sources
        return {
            os.path.relpath(os.path.realpath(path), self._folder).replace(os.sep, "/"): sources[path].encode(text)
            for path, text in texts.items()
            if text != sources[path].text
        }

    def candidates(self, result: Result) -> Iterator[Candidate | Refused]:
        """The fixes for what makes runs differ, the likeliest first, and what speaks against others.

        Raises:
            TooLong: the linter has more to follow in this project than a repair can wait for.
        """
        files = files_in_question(result)
        if files:
            with time_limit(PATIENCE):
                report = self._checked(files)
                applicable = {id(finding) for finding, _ in self._attempts.applicable(report)}
            links = list(explanations(result, report.findings))
            known = {id(link.finding) for link in links}
            # Where the runs part, the loader or split at fault may have come from another file: running tells.
            rules = rules_for(result)
            likely = [code for code in rules if code == DEAD_SEED or code == rules[0]]
            likely = [code for code in likely if not code.startswith(_OF_PROGRAMS)]
            links += [Link(one, proven=False) for one in report.findings if one.code in likely and id(one) not in known]
            for link in links:
                with time_limit(PATIENCE):
                    tried = self._tried(report, link, is_applicable=id(link.finding) in applicable)
                yield tried
        if result.cause is not None and result.perturbation is None:
            with time_limit(PATIENCE):
                seeded = self._seeded(result, result.cause)
            yield from seeded

    def accept(self, candidate: Candidate) -> None:
        """Go on from the texts of a candidate."""
        self._attempts.joined.append({*(edit.path for edit in candidate.fix.edits), *candidate.fix.after})
        self._attempts.overlay = dict(candidate.texts)
        self._report = candidate.report

    def write(self) -> tuple[str, ...]:
        """Write all changes, or none where a file has been saved meanwhile. What was not written is told, in words."""
        changes = self.changes
        # What was checked by running is all of them together.
        self._attempts.joined.append({change.source.path for change in changes})
        return tuple(write_changes(self._attempts, changes).values())

    def _checked(self, files: set[Path]) -> Report:
        known = set(self._attempts.paths)
        if not files <= known:
            self._attempts.paths = sorted(known.union(files, *map(self._projects.whole, files)))
            self._report = None
        if self._report is None:
            self._report = self._attempts.check(self._attempts.overlay)
        return self._report

    def _tried(self, report: Report, link: Link, *, is_applicable: bool) -> Candidate | Refused:
        attempts, finding = self._attempts, link.finding
        if finding.fix is None:
            return Refused(link, None, finding.fix_declined or f"the linter has no fix for {finding.code}")
        if not is_applicable:
            rejected = attempts.rejected.get(attempts.key(finding))
            return Refused(link, finding.fix, rejected.reason if rejected else "the settings exclude its fix")
        if (outside := self._outside(finding.fix)) is not None:
            return Refused(link, finding.fix, outside)
        tried = attempts.attempt(report, [(finding, finding.fix)])
        if isinstance(tried, Rejection):
            return Refused(link, finding.fix, tried.reason)
        before = attempts.overlay
        try:
            attempts.overlay = tried[0]
            after = tidied(attempts, tried[1])
            return Candidate(link, finding.fix, attempts.overlay, after)
        finally:
            attempts.overlay = before

    def _outside(self, fix: Fix) -> str | None:
        """Why a fix cannot be tried: it edits a file that the scratch folders do not hold."""
        for path in dict.fromkeys(edit.path for edit in fix.edits):
            if not Path(os.path.realpath(path)).is_relative_to(self._folder):
                return f"it would change {path}, which lies outside of the working folder"
        return None

    def _seeded(self, result: Result, cause: Cause) -> list[Candidate | Refused]:
        """Lines that seed what nothing seeds, or only later: beside a seeding call of the script, with its seed, or at
        the top of the script where it has none. A seed that is another one in each run may have been drawn: from what
        is not known, so that the one or the other is seeded at the top.
        """
        if cause.why == "seed" and cause.seed is not None and not cause.seed[0].detail.get("entropy"):
            return [one for rng in ("numpy", "python") for one in self._at_the_top({rng})]
        rng = _SEEDED_BY_A_LINE.get(cause.rng or "")
        if cause.why not in ("unseeded", "late") or rng is None or (cause.process != MAIN and not cause.in_worker):
            return []
        beside = (seed for record in result.pair or () for seed in seeds(record).values() if seed.name in _BESIDE)
        if cause.why == "unseeded" and not cause.nothing_seeds:
            for seed in beside:
                assert seed.place is not None
                if (fix := self._beside(seed.place, rng)) is not None:
                    return [self._of_lines(fix)]
        shown = cause.seed[0].shown if cause.seed is not None else None
        number = shown if shown is not None and shown.isdecimal() else None
        return self._at_the_top({rng, "torch"} if cause.nothing_seeds else {rng}, number)

    def _beside(self, place: Place, rng: str) -> Fix | None:
        from torchrepro_lint.fixes.partial_fix import seed_beside_row

        path = Path(place.file)
        if not path.is_file() or not Path(os.path.realpath(path)).is_relative_to(self._folder):
            return None
        return seed_beside_row(self._document(path), place.line, [rng])

    def _at_the_top(self, rngs: Set[str], seed: str | None = None) -> list[Candidate | Refused]:
        from torchrepro_lint.fixes.entry_fix import seeding_block

        path = self._entry
        if path is None:
            return []
        seed = seed or str(self._projects.of(path).settings.seed)
        edits = seeding_block(self._document(path), rngs, seed)
        if edits is None:
            return [Refused(None, None, "the file of the script does not begin with imports, below which to seed")]
        return [self._of_lines(Fix(Applicability.UNSAFE, "Seed the program below its imports", edits))]

    def _of_lines(self, fix: Fix) -> Candidate | Refused:
        if (outside := self._outside(fix)) is not None:
            return Refused(None, fix, outside)
        texts = self._attempts.applied_alone(fix)
        if isinstance(texts, str):
            return Refused(None, fix, texts)
        return Candidate(None, fix, texts, self._attempts.check(texts))

    def _document(self, path: Path) -> Document:
        from torchrepro_lint.fixes.document import Document

        self._checked({path})
        return Document(path, python_text(path, self._attempts.text(path)))
