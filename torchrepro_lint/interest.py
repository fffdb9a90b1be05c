"""Which files may hold a finding: told from their bytes, before anything is parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.housekeeping import UNREADABLE_FILE
from torchrepro_lint.selection import is_ignored
from torchrepro_lint.source.cells import cell_errors, is_notebook
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.noqa import may_silence
from torchrepro_lint.source.prefilter import is_wanted
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.text import SourceError, decode

__all__ = ["Candidates", "broken_cells", "is_any_wanted", "of_interest"]

#: With more notebooks whose cells ran in another order, one line says how many there are.
_MOST_NOTICES: Final = 3


@dataclass(slots=True)
class Candidates:
    """The files that may hold a finding, by project, which of them may have comments that silence, findings for the
    files that cannot be read, and what is to be said of a file beside its findings.
    """

    groups: dict[Project, list[Path]] = field(default_factory=dict)
    commented: set[Path] = field(default_factory=set)
    broken: list[Finding] = field(default_factory=list)
    notices: list[tuple[Path, str]] = field(default_factory=list)


def of_interest(
    requested: Sequence[Path], projects: Projects, overlay: Mapping[Path, str], read: Read, named: Set[Path]
) -> Candidates:
    """Those of the files that were asked about; what `overlay` holds counts in the place of what `read` gives. The
    files in `named` are those that somebody has named.
    """
    candidates = Candidates()
    notices: list[tuple[Path, str]] = []
    for path in requested:
        try:
            data = overlay[path].encode("utf-8", "replace") if path in overlay else read(path)
            wanted = is_wanted(data)
            if not wanted and path in named and is_notebook(path) and path not in overlay:
                decode(path, data)  # who names a file that is no notebook is to hear of it
            if wanted and path not in overlay:
                source = decode(path, data)
                wanted = is_wanted(source.searched)
                if wanted and source.notice is not None:
                    notices.append((path, source.notice))
        except SourceError as error:
            if not is_ignored(UNREADABLE_FILE, path, projects.of(path).settings):
                candidates.broken.append(
                    UNREADABLE_FILE.finding(path, error.row, error.column, error.reason, is_named=path in named)
                )
            continue
        if wanted:
            candidates.groups.setdefault(projects.of(path), []).append(path)
            if may_silence(data):
                candidates.commented.add(path)
    candidates.notices += notices if len(notices) <= _MOST_NOTICES else [_with_others(notices)]
    return candidates


def _with_others(notices: Sequence[tuple[Path, str]]) -> tuple[Path, str]:
    """What is said of the first file, and of how many others the same is to be said."""
    path, said = notices[0]
    return path, f"{said} (and so in {len(notices) - 1} other notebooks)"


def is_any_wanted(requested: Iterable[Path], read: Read) -> bool:
    """Whether a file is to be looked at: where none is, to say so takes less than to look it up."""
    try:
        return any(is_wanted(read(path)) for path in requested)
    except SourceError:
        return True


def broken_cells(
    files: Iterable[Path], project: Project, overlay: Mapping[Path, str], read: Read, named: Set[Path]
) -> Iterator[Finding]:
    """Findings for the cells of readable notebooks that cannot be read themselves, and whose text is missed. The files
    in `named` are those that somebody has named.
    """
    for path in filter(is_notebook, files):
        if is_ignored(UNREADABLE_FILE, path, project.settings):
            continue
        text = overlay[path] if path in overlay else decode(path, read(path)).text
        for before, error in cell_errors(path, text).items():
            if error.matters:
                yield UNREADABLE_FILE.finding(
                    path, before + error.row, error.column, error.reason, "cell", is_named=path in named
                )
