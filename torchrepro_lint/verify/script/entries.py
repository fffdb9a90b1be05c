"""The vocabulary of a record: what a watched run tells, one entry at a time.

Plain data. Both sides import it, the watched process and those who read a record later, perhaps on another machine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    # What is compared:
    "batch",  # a loader gave a batch. inputs: the indices that were asked for; output: the batch
    "loss",  # backward was called. output: the tensor that it was called on
    "gradient",  # stage 2, before an optimizer's step. name: the parameter; output: its gradient
    "parameter",  # name: the optimizer, in stage 2 the parameter. output: the parameters before training, after a step
    "weights",  # a module was put into evaluation, or an average of weights moved. output: its weights
    "op",  # stage 2: an operation. inputs: its tensors and arguments; output: its tensors
    "draw",  # stage 2: a number was drawn. name: the call; inputs: the RNG's state before; output: its state after
    # What is compared where all of this agrees:
    "print",  # a line that is printed, without times. shown: the line; detail: the marks before it
    "file",  # a file that was written in a scratch folder. name: the file; output: its content
    # What explains a difference and is none itself:
    "seed",  # an RNG was seeded. name: the call; output: the value, also in `shown`
    "settings",  # before a step, where a training is resumed. name: the optimizer; detail: what the step is made with
    "rng",  # the states of the RNGs where a step, or a worker, begins. detail: state hash by name of the RNG
    "collective",  # a call that all ranks make together. name: the function
    "arrival",  # stage 2: a result that is taken in the order of completion. name: by what; output: the result
    "memory",  # stage 2: memory that nothing has written yet. name: the operation; output: what it holds by chance
    "hash",  # stage 2: `hash` of a text, which is in `shown`. output: the number
    # What happened to the run:
    "environment",  # detail: what is known about the environment by now; later entries add and overrule
    "process",  # a process of the run began. detail: how it was started
    "note",  # something that limits what can be seen. name: what; shown: in words
    "failure",  # an uncaught exception. name: its type; shown: its text
    "end",  # the process came to its end. name: how; detail: its exit status
]
KINDS: frozenset[str] = frozenset(get_args(Kind))
OUTPUTS: frozenset[Kind] = frozenset({"print", "file"})
COMPARED: frozenset[Kind] = frozenset({"batch", "loss", "gradient", "parameter", "weights", "op", "draw"})

MAIN = "main"
_INSTALLED = ("site-packages", "dist-packages")
BEFORE_TRAINING = " before training"  # the end of the name of parameters that no step has changed yet
STOPPED = "stopped"  # the name of the note that a process was ended by the limit on steps
TOOK_EFFECT = "varied"  # the name of the note that a perturbation has met what it varies


@dataclass(frozen=True, slots=True)
class Place:
    """A line of code: the file as the process knew it, the line from 1, the function's qualified name."""

    file: str
    line: int
    function: str = ""

    @property
    def package(self) -> str | None:
        """The installed package that it lies in, by its folder; None where it lies in none."""
        parts = self.file.replace("\\", "/").split("/")
        at = max((index for index, part in enumerate(parts) if part in _INSTALLED), default=None)
        return parts[at + 1] if at is not None and at + 1 < len(parts) else None

    def below(self, folder: str) -> str:
        """`file:line`, the file relative to `folder` where it lies below it."""
        name = self.file
        if PurePath(name).is_relative_to(folder):
            name = PurePath(name).relative_to(folder).as_posix()
        return f"{name}:{self.line}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was seen.

    `process` is a name that means the same process in every run: `main`, `worker 1 of loader 0`, `rank 1`. `step`
    counts the optimizer steps that its process had finished, `epoch` the passes over the loader that the entry belongs
    to, both from 0. `worker` is the DataLoader worker that made a batch, or that the entry was seen in. `place` is the
    user's line, `via` the line of a library that it went through, where there is one. `inputs` and `output` are
    content hashes; None where there is nothing to hash, or no way to. `shown` is the value in a few characters for
    people.
    """

    kind: Kind
    name: str = ""
    process: str = MAIN
    step: int | None = None
    epoch: int | None = None
    worker: int | None = None
    place: Place | None = None
    via: Place | None = None
    inputs: str | None = None
    output: str | None = None
    shown: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, str, int | None, int | None]:
        """What must be the same for two entries to be about the same thing. Which worker it was is not part of it."""
        return (self.kind, self.name, self.step, self.epoch)


def is_base_seed(via: Place | None) -> bool:
    """Whether a draw went through the library's line at which a loader draws what its workers are seeded from."""
    return via is not None and via.file.replace("\\", "/").endswith("torch/utils/data/dataloader.py")


@dataclass(frozen=True, slots=True)
class Header:
    """How the run was made.

    `command` is the script, or `-m` and the module, and its arguments. `folder` is the working directory. `stage` is
    how closely it was watched: 1, or 2 for every operation and draw. `run` counts from 1. `perturbation` names the one
    thing that was varied. `started` is the time in ISO 8601. `steps` is the number of optimizer steps after which the
    run was to end; None for no limit. `ranks` is the number of processes in which the
    script was started, as torchrun does; 0 where it was started as usual.
    """

    command: tuple[str, ...]
    folder: str
    stage: int = 1
    run: int = 1
    perturbation: str | None = None
    started: str = ""
    tool: str = ""
    steps: int | None = None
    ranks: int = 0

    @property
    def script(self) -> Path | None:
        """The file that runs as `__main__`; None for a module that is not found below the folder."""
        if self.command[0] != "-m":
            return Path(os.path.abspath(os.path.join(self.folder, self.command[0])))  # noqa: PTH100, PTH118 (as named)
        names = (self.command[1], f"{self.command[1]}.__main__")
        paths = [Path(self.folder).joinpath(*name.split(".")).with_suffix(".py") for name in names]
        return next((path for path in paths if path.is_file()), None)
