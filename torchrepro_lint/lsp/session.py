"""What the server knows between two analyses, and the analysis itself. Nothing here waits or speaks to the editor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torchrepro_lint.diagnostics import Fix
from torchrepro_lint.engine import Report, check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fix_report import FixReport
from torchrepro_lint.program.kept.programs import KeptPrograms
from torchrepro_lint.selection import require_known_rules
from torchrepro_lint.settings import SettingsOverride
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.root import is_installed
from torchrepro_lint.source.stamps import stamp
from torchrepro_lint.toolkit import Toolkit

__all__ = ["EDITOR", "Session"]

#: What a message about a setting of the editor begins with.
EDITOR = "the editor's settings: "


class Session:
    """Findings of open files. Which files there are, and what settings say, is kept until `forget`; what was found out
    about a project of which a file is open, as long as the texts that it rests on stay what they were. One thread at a
    time may ask.
    """

    def __init__(self) -> None:
        self._override: SettingsOverride = {}
        self._projects = Projects({})
        self._programs = KeptPrograms()
        self._toolkit = Toolkit(make_program=self._programs)

    def configure(self, override: SettingsOverride) -> None:
        """Take other settings over those of the files.

        TorchReproLintError where one of them names a rule that there is not; then those from before count.
        """
        require_known_rules(override, self._toolkit.rules(), EDITOR)
        self._override = override
        self.forget()

    def forget(self) -> None:
        """Something on the disk has changed: which files there are, or what the settings say."""
        self._projects = Projects(self._override)

    def check(self, texts: Mapping[Path, str]) -> Report:
        """The findings in the files with these texts, but for those that their project leaves out, and for libraries:
        an editor opens these where somebody looks up a definition.

        TorchReproLintError where settings do not say what they should.
        """
        projects = self._projects
        paths = [path for path in texts if not (is_installed(path) or projects.leaves_out(path))]
        if paths:  # between two files, an editor may have none open
            self._programs.keep({projects.of(path).root for path in paths})
        return check(paths, self._override, overlay=texts, projects=projects, toolkit=self._toolkit)

    def may_edit(self, fix: Fix, texts: Mapping[Path, str], closed: Mapping[Path, object]) -> bool:
        """Whether the editor may be offered a fix: what it changes are open files, or files that are as they were when
        they were looked at (`closed`: when they were written) and that no link leads to out of their project.
        """
        changed = {edit.path for edit in fix.edits}.difference(texts)
        return all(stamp(path) == closed.get(path) and self._projects.why_outside(path) is None for path in changed)

    def fixed(self, path: Path, texts: Mapping[Path, str]) -> FixReport:
        """What `--fix` would make of one file, with the others as they are open. Nothing is written."""
        return fix([path], self._override, write=False, overlay=texts, toolkit=self._toolkit)
