"""What a repository holds beside the files that a run fixes: copies of code, which are fixed in the same way."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import Report, RunOptions, check
from torchrepro_lint.fixes.twins import files_with_copies
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.project import repository
from torchrepro_lint.source.root import absolute

if TYPE_CHECKING:
    from torchrepro_lint.fixes.files_alike import FilesAlike
    from torchrepro_lint.settings import SettingsOverride
    from torchrepro_lint.source.contents import Contents
    from torchrepro_lint.source.project import Projects
    from torchrepro_lint.toolkit import Toolkit

__all__ = ["CopiesElsewhere"]


class _Attempts(Protocol):
    """What is asked of the attempts to fix: the files that are asked about, and their texts as they are now."""

    paths: Sequence[Path]
    override: SettingsOverride
    toolkit: Toolkit
    projects: Projects
    run: RunOptions
    overlay: dict[Path, str]
    contents: Contents

    def python_text(self, path: Path) -> str: ...

    def may_be_fixed(self, report: Report, finding: Finding) -> bool: ...


class CopiesElsewhere:
    """The files around those that a run is asked about, as the texts of its `attempts` are now."""

    def __init__(self, attempts: _Attempts) -> None:
        self._attempts = attempts
        self._reports: dict[Set[Path], Report] = {}

    def repository(self, path: Path) -> Path:
        """The folder of the repository that a file is in."""
        run = self._attempts
        folders = [absolute(one) for one in run.paths if one not in run.overlay and one.is_dir()]
        return repository(run.projects.of(path).root, folders)

    @cached_property
    def files_alike(self) -> FilesAlike:
        """What is known of the files that hold copies of a function."""
        # Imported here: the program model, which it needs, is not loaded where there is nothing to fix.
        from torchrepro_lint.fixes.files_alike import FilesAlike

        return FilesAlike(self._attempts.projects, self._attempts.contents, self._asked_beside)

    def beside(self, findings: Sequence[Finding]) -> Report:
        """The report on the files that hold copies of code with one of the findings, and that the run is not asked
        about: each file is fixed in one way, whichever of them are given.
        """
        run = self._attempts
        asked = self._asked()
        files, report = asked, Report()
        while more := files_with_copies(findings, run.python_text, self.files_alike, files):
            files = files | more
            others = files - asked
            if others not in self._reports:
                self._reports[others] = check(
                    in_order(others), run.override, overlay=run.overlay, projects=run.projects, toolkit=run.toolkit,
                    contents=run.contents, run=RunOptions(jobs=run.run.jobs),
                )  # fmt: skip
            report = self._reports[others]
            findings = [one for one in report.findings if run.may_be_fixed(report, one)]
        return report

    def _asked(self) -> frozenset[Path]:
        """The files that the run is asked about."""
        run = self._attempts
        on_disk = [path for path in run.paths if path not in run.overlay]
        return frozenset({*run.projects.files(on_disk), *(path for path in run.paths if path in run.overlay)})

    @cached_property
    def _by_repository(self) -> dict[Path, list[Path]]:
        found: dict[Path, list[Path]] = {}
        for one in in_order(self._asked()):
            found.setdefault(self.repository(one), []).append(one)
        return found

    def _asked_beside(self, path: Path) -> list[Path]:
        """Those of them that are in other projects of the repository of a file."""
        run = self._attempts
        project = run.projects.of(path)
        files = self._by_repository.get(self.repository(path), ())
        return [one for one in files if run.projects.of(one) is not project]
