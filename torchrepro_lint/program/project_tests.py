"""What in a project only tests it: files of tests, and what a module that others import tries out when it is run.

What these seed and switch says nothing of other runs, and whether they repeat is for the `strict` profile alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.program.running.ways import Way, runs_as_script
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_called_as_a_program", "is_of_a_test", "test_files", "tries_itself_out"]

_NAME = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_FOLDERS = frozenset({"test", "tests"})
#: A file of such a name is a program, whatever imports it.
_PROGRAM = re.compile(
    r"(?:^|_)(?:main|train\w*|run|sample|generate|infer|predict|eval\w*|test|finetune|fit|launch|cli)(?:_|$)"
)


# A program that evaluates a network may be called `test_net.py`: it has a guard, reads a command line, and has nothing
# that a test runner would find.
_GUARD = re.compile(rb"""__name__\s*==\s*['"]__main__['"]""")
_COMMAND_LINE = any_word(
    ["argparse", "ArgumentParser", "parse_args", "click", "fire", "hydra", "typer", "argv", "FLAGS"]
)
_RUNNER = re.compile(
    rb"\bpytest\b|\bunittest\b|\btorch\.testing\b|^(?:async )?def test\w*\(\s*\)|^class Test", re.MULTILINE
)


def test_files(program: Program) -> frozenset[Path]:
    """The files of a project that are tests, by their own names or by that of a folder below the root."""
    return frozenset(path for path in program.project.files if _is_test_file(program, path))


def _is_test_file(program: Program, path: Path) -> bool:
    folders = path.relative_to(program.root).parts[:-1] if path.is_relative_to(program.root) else ()
    if not _FOLDERS.isdisjoint(folders):
        return True
    return _NAME.fullmatch(path.name) is not None and not _is_an_evaluation(program, path)


def _is_an_evaluation(program: Program, path: Path) -> bool:
    """Whether a file is a program that is called like a test, since it tests a network."""
    holds = program.project.holds
    return holds(path, _GUARD) and holds(path, _COMMAND_LINE) and not holds(path, _RUNNER)


def tries_itself_out(program: Program, path: Path) -> bool:
    """Whether the `__main__` block of a file is a self-test: other files import it, and it is not called as a program
    is (`train_net.py`).
    """
    return program.imports.is_imported(path) and not is_called_as_a_program(path)


def is_called_as_a_program(path: Path) -> bool:
    """Whether a file has a name that programs have: `main.py`, `train_net.py`."""
    return _PROGRAM.search(path.stem) is not None


def is_of_a_test(program: Program, way: Way) -> bool:
    """Whether a way begins in a file of tests, or in a self-test."""
    start = way[-1].facts.path
    return program.is_test(start) or (runs_as_script(way) and tries_itself_out(program, start))
