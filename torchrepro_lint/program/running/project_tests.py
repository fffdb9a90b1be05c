"""What in a project only tests it: files of tests, and what a module that others import tries out when it is run.

What these seed and switch says nothing of other runs, and whether they repeat is for the `strict` profile alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.parents import is_named
from torchrepro_lint.program.running.ways import Way, runs_as_script

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_called_as_a_program", "is_of_a_test", "looks_at_data_alone", "tries_itself_out"]

#: A file of such a name is a program, whatever imports it.
_PROGRAM: Final = function_words("is_run_itself")
#: A class of data sets, in the bytes of a file; words of what has a model; what trains one.
_DATA_SET: Final = re.compile(rb"^class \w+\(.*Dataset", re.MULTILINE)
_MODEL: Final = re.compile(rb"model|\bnet\b|network|backward|optim|\.fit\(|Trainer|nn\.Module", re.IGNORECASE)
#: What takes data from somewhere or writes results, by words in the bytes of a file.
_REACHES_OUT: Final = re.compile(
    rb"\b(?:open|load\w*|save\w*|DataLoader|Dataset|argparse|parse_args|argv|click|read\w*|write\w*|imread|dump)\b|\binput\("
)
#: Functions of torch that make a tensor of the sizes or numbers that are written in the call.
_TOYS: Final = frozenset({"rand", "randn", "randint", "zeros", "ones", "full", "arange", "tensor"})
#: How the methods end that take the steps of a training.
_TRAINING: Final = ("backward", "step")
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
    if program.is_test(start) or (runs_as_script(way) and tries_itself_out(program, start)):
        return True
    return _tries_toys(program, way)


def _tries_toys(program: Program, way: Way) -> bool:
    """Whether a way begins in a `__main__` block that makes its tensors itself and trains in no loop, of a file that
    reads, writes and parses nothing, in a project whose other files train: it shows that what the file defines works.
    """
    start = way[-1]
    path, holds = start.facts.path, program.project.holds
    if not runs_as_script(way) or is_called_as_a_program(path) or holds(path, _REACHES_OUT):
        return False
    guards = {branch for branch, one in start.scope.branches.items() if isinstance(one, tree.If) and is_main_guard(one)}
    if not any(branch in guards for branch, _ in start.path):
        return False
    if any(
        isinstance(call.func, tree.Attribute)
        and call.func.attr.endswith(_TRAINING)
        and any(branch in start.scope.loops for branch, _ in around)
        for call, around in start.scope.calls
    ):
        return False
    makes_toys = any(
        isinstance(call.func, tree.Attribute) and is_named(call.func.value, "torch") and call.func.attr in _TOYS
        for call, around in start.scope.calls
        if any(branch in guards for branch, _ in around)
    )
    return makes_toys and any(other != path for other in program.project.matching(_TRAINS))


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
