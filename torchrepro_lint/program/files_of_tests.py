"""The files of a project that test it: by their own names or by that of a folder, unless they are programs that test a
network. What tests pass to the project's functions is nothing that its programs do.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.modules import Project

__all__ = ["MAIN_GUARD", "files_of_tests", "is_named_like_a_test", "is_named_like_an_evaluation"]

_NAME = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_FOLDERS = frozenset({"test", "tests"})
# A program that evaluates a network may be called `test_net.py`: it has a guard or trains, and reads a command line. It
# has nothing that a test runner would find.
#: `if __name__ == "__main__":`, in the bytes of a file.
MAIN_GUARD = re.compile(rb"""__name__\s*==\s*['"]__main__['"]""")
_COMMAND_LINE = any_word(
    ["argparse", "ArgumentParser", "parse_args", "click", "fire", "hydra", "typer", "argv", "FLAGS"]
)
_RUNNER = re.compile(
    rb"\bpytest\b|\bunittest\b|\btorch\.testing\b|^(?:async )?def test\w*\(\s*\)|^class Test", re.MULTILINE
)


def files_of_tests(project: Project) -> frozenset[Path]:
    """The files of a project that are tests, by their own names or by that of a folder below the root."""
    return frozenset(path for path in project.files if _is_test_file(project, path))


def is_named_like_a_test(root: Path, path: Path) -> bool:
    """Whether a file of the project at `root` has the name of a test, or lies in a folder for tests."""
    return _is_in_their_folder(root, path) or _NAME.fullmatch(path.name) is not None


def is_named_like_an_evaluation(path: Path) -> bool:
    """Whether the name of a file says that it evaluates a network or looks at data: `eval.py`, `plot_samples.py`."""
    looks = function_words("only_looks").search(path.stem.partition("_")[0])
    return function_words("evaluates").search(path.stem) is not None or looks is not None


def _is_in_their_folder(root: Path, path: Path) -> bool:
    folders = path.relative_to(root).parts[:-1] if path.is_relative_to(root) else ()
    return not _FOLDERS.isdisjoint(folders)


def _is_test_file(project: Project, path: Path) -> bool:
    if _is_in_their_folder(project.root, path):
        return True
    return _NAME.fullmatch(path.name) is not None and not _is_an_evaluation(project, path)


def _is_an_evaluation(project: Project, path: Path) -> bool:
    """Whether a file is a program that is called like a test, since it tests a network; or one that trains, with a
    command line, which no test runner could import.
    """
    holds = project.holds
    is_program = holds(path, MAIN_GUARD) or holds(path, program_words("trains"))
    return is_program and holds(path, _COMMAND_LINE) and not holds(path, _RUNNER)
