"""In which other files of a project a line stands, so that a copy of what is around it may be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from torchrepro_lint.program.files_of_tests import is_named_like_a_test, is_named_like_an_evaluation
from torchrepro_lint.program.programs.for_others import is_out_of_use
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.text import SourceError

__all__ = ["FilesAlike"]


class FilesAlike:
    """The files of projects, as they were read: `contents` gives the bytes of one. `beside` gives the files of other
    projects in the repository of a file that the run is asked about.
    """

    def __init__(
        self, projects: Projects, contents: Callable[[Path], bytes], beside: Callable[[Path], Sequence[Path]]
    ) -> None:
        self._projects = projects
        self._contents = contents
        self._beside = beside
        self.holding = cache(self._holding)
        self._in_use = cache(lambda root, files: [one for one in files if _is_compared(root, one)])

    def _holding(self, path: Path, line: str) -> Sequence[Path]:
        """The other files of the repository of a file that hold a line and are kept like it: not tests, evaluations, or
        what was put aside.
        """
        project, wanted = self._projects.of(path), line.encode()
        beside = [one for one in self._beside(path) if _is_compared(self._projects.of(one).root, one)]
        files = dict.fromkeys((*self._in_use(project.root, project.files), *beside))
        return [one for one in files if one != path and self._holds(one, wanted)]

    def _holds(self, path: Path, line: bytes) -> bool:
        try:
            return line in self._contents(path)
        except SourceError:
            return False

    def is_kept(self, path: Path) -> bool:
        """Whether a file is none of the tests of its project, nor put aside or code of others."""
        root = self._projects.of(path).root
        return not (is_out_of_use(root, path) or is_named_like_a_test(root, path))


def _is_compared(root: Path, path: Path) -> bool:
    return not (is_out_of_use(root, path) or is_named_like_a_test(root, path) or is_named_like_an_evaluation(path))
