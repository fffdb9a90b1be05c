"""What all runs of one script have in common, as its options want it: recordings, limits, scratch folders."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.guard import scratch_folder
from torchrepro_lint.verify.script.experiment import Experiment, Halves
from torchrepro_lint.verify.script.launch import Launcher
from torchrepro_lint.verify.script.progress import Progress
from torchrepro_lint.verify.script.scratch import Scratch


@dataclass(frozen=True, slots=True)
class ScriptOptions:
    """What the command line asks for.

    `command` is the script, or `-m` and a module, and its own arguments; `halves` are the two that resume. `report` is
    the page to write. `steps` is the number of optimizer steps after which each run ends, and with `scratch` each run
    writes into a folder of its own. At most `jobs` runs are made at a time. The script is
    started in `ranks` processes, as torchrun does, or in one as usual where that is 0.
    """

    command: tuple[str, ...]
    runs: int
    timeout: float
    device: str | None
    perturb: tuple[str, ...]
    save: Path | None
    output_format: str
    halves: Halves | None = None
    report: Path | None = None
    steps: int | None = None
    scratch: bool = False
    jobs: int = 1
    ranks: int = 0


@dataclass(frozen=True, slots=True)
class Bench:
    """Makes experiments with one script. `folder` is where the script is started, `scratch` makes the folders that its
    runs write into, where they have such.
    """

    options: ScriptOptions
    folder: str
    launcher: Launcher
    progress: Progress
    scratch: Scratch | None

    def experiment(self, scratch: Scratch | None = None, records: str = "") -> Experiment:
        """An experiment. Its runs are made in folders of `scratch` where it is given, and recorded in the folder of
        that name.
        """
        options, launcher = self.options, self.launcher
        if records:
            folder = launcher.folder / records
            folder.mkdir(exist_ok=True)
            launcher = replace(launcher, folder=folder)
        return Experiment(
            options.command,
            self.folder,
            launcher,
            contend=options.device == "cuda",
            one_hash_seed=bool(options.perturb),
            steps=options.steps,
            resumes=options.halves is not None,
            ranks=options.ranks,
            jobs=1 if options.device == "cuda" or options.ranks > 1 else options.jobs,
            scratch=scratch or self.scratch,
        )


@contextlib.contextmanager
def bench(options: ScriptOptions, cuda_is_there: bool, command: str) -> Iterator[Bench]:
    """All that is needed to run the script of `options`, for as long as it is. `command` is the one that runs it.

    Raises:
        TorchReproLintError: there is no such script, no place for the recordings, or what the options ask for is not
            there.
    """
    if options.command[0] != "-m" and not Path(options.command[0]).is_file():
        raise TorchReproLintError(f"{options.command[0]}: no such file")
    if options.device == "cuda" and not cuda_is_there:
        raise TorchReproLintError("--device cuda: there is no CUDA device here")
    if options.report is not None and not options.report.absolute().parent.is_dir():
        # Said now, and not when all has run.
        raise TorchReproLintError(f"{options.report}: the folder {options.report.parent} does not exist")
    with contextlib.ExitStack() as ended:
        folder = ended.enter_context(_folder(options.save))
        progress = ended.enter_context(Progress.on(sys.stderr, command))
        environment = {"CUDA_VISIBLE_DEVICES": "-1"} if options.device == "cpu" else {}
        where = os.getcwd()  # noqa: PTH109 - as text: it goes into a record
        home = ended.enter_context(scratch_folder()) if options.scratch else None
        yield Bench(
            options,
            where,
            Launcher(folder, options.timeout, environment, progress.show),
            progress,
            None if home is None else Scratch(where, Path(home).resolve()),
        )


@contextlib.contextmanager
def _folder(save: Path | None) -> Iterator[Path]:
    """Where the recordings go: to be kept, or for as long as they are needed."""
    if save is None:
        with scratch_folder() as scratch:
            yield Path(scratch)
        return
    try:
        save.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TorchReproLintError(f"{save}: {error.strerror or error}") from None
    yield save.resolve()
