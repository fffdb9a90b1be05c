"""What in a project only tests it: files of tests, and what a module that others import tries out when it is run.

What these seed and switch says nothing of other runs, and whether they repeat is for the `strict` profile alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.ways import Way, runs_as_script

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_called_as_a_program", "is_of_a_test", "looks_at_data_alone", "tries_itself_out"]

#: A file of such a name is a program, whatever imports it.
_PROGRAM: Final = function_words("is_run_itself")
#: A class of data sets, in the bytes of a file; words of what has a model; what trains one.
_DATA_SET: Final = re.compile(rb"^class \w+\(.*Dataset", re.MULTILINE)
_MODEL: Final = re.compile(rb"model|\bnet\b|network|backward|optim|\.fit\(|Trainer|nn\.Module", re.IGNORECASE)
_TRAINS: Final = re.compile(rb"\.backward\(|\.fit\(")


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


def looks_at_data_alone(program: Program, way: Way) -> bool:
    """Whether a way begins in the `__main__` block of a file that defines a data set and has no word of a model, in a
    project whose other files train: its author looks at some samples there.
    """
    path, holds = way[-1].facts.path, program.project.holds
    if not runs_as_script(way) or is_called_as_a_program(path):
        return False
    if not holds(path, _DATA_SET) or holds(path, _MODEL):
        return False
    return any(other != path for other in program.project.matching(_TRAINS))
