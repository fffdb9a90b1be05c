"""In which other files of a project a line stands, so that a copy of what is around it may be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from torchrepro_lint.program.files_of_tests import is_named_like_a_test, is_named_like_an_evaluation
from torchrepro_lint.program.for_others import is_out_of_use
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.text import SourceError

__all__ = ["files_holding"]


def files_holding(projects: Projects, contents: Callable[[Path], bytes]) -> Callable[[Path, str], Sequence[Path]]:
    """What gives the other files of the project of a file that hold a line, as they were read: those that are kept
    like it, and not tests, evaluations, or what was put aside.
    """

    @cache
    def in_use(root: Path, files: tuple[Path, ...]) -> Sequence[Path]:
        return [one for one in files if _is_in_use(root, one)]

    def holds(path: Path, line: bytes) -> bool:
        try:
            return line in contents(path)
        except SourceError:
            return False

    @cache
    def holding(path: Path, line: str) -> Sequence[Path]:
        project, wanted = projects.of(path), line.encode()
        return [one for one in in_use(project.root, project.files) if one != path and holds(one, wanted)]

    return holding


def _is_in_use(root: Path, path: Path) -> bool:
    return not (is_out_of_use(root, path) or is_named_like_a_test(root, path) or is_named_like_an_evaluation(path))
