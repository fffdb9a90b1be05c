"""What in a project only tests it: files of tests, and what a module that others import tries out when it is run.

What these seed and switch says nothing of other runs, and whether they repeat is for the `strict` profile alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.ways import Way, runs_as_script

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_called_as_a_program", "is_of_a_test", "tries_itself_out"]

#: A file of such a name is a program, whatever imports it.
_PROGRAM: Final = function_words("is_run_itself")


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
