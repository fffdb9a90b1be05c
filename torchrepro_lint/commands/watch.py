"""`--watch`: check again whenever a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.commands.check import CheckOptions, run_check
from torchrepro_lint.commands.show import print_projects
from torchrepro_lint.console import print_errors
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.program.kept.programs import KeptPrograms
from torchrepro_lint.source.configurations import yaml_files
from torchrepro_lint.source.inferred_target import python_files
from torchrepro_lint.source.package_versions import version_files
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.requirements import requirement_files
from torchrepro_lint.source.stamps import stamp
from torchrepro_lint.toolkit import Toolkit

__all__ = ["snapshot", "watch"]

# Between two looks at the files, in seconds: short enough to feel at once, long enough to cost nothing.
_PAUSE = 0.4

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"

# Time of the last change in nanoseconds and size in bytes, by file.
_Snapshot: TypeAlias = dict[Path, tuple[int, int]]


def watch(options: CheckOptions, wait: Callable[[float], None] = time.sleep, rounds: int | None = None) -> int:
    """Check, wait until a file that a finding may rest on changes, and check again, until it is interrupted.

    `rounds` ends it after as many checks. What is wrong with the settings or paths is printed, and waited upon.
    """
    # A round costs what has changed since the last.
    toolkit = Toolkit(make_program=KeptPrograms())
    done = 0
    while True:
        seen = snapshot(options)
        if sys.stdout.isatty():
            print(_CLEAR, end="")
        try:
            if options.verbose:
                projects = Projects(options.override)
                print_projects(projects, projects.files(options.paths))
            run_check(options, toolkit)
        except TorchReproLintError as error:
            print_errors([f"error: {error}"])
        done += 1
        if done == rounds:
            return 0
        if not options.quiet:
            print(f"{datetime.now():%H:%M:%S} waiting for changes; press Ctrl-C to stop", file=sys.stderr)
        sys.stdout.flush()
        while snapshot(options) == seen:
            wait(_PAUSE)


def snapshot(options: CheckOptions) -> _Snapshot:
    """What the files look like that a finding may rest on; empty where they cannot be told."""
    projects = Projects(options.override)
    try:
        found = {projects.of(path) for path in projects.files(options.paths)}
        files = {path for project in found for path in project.files}
        files |= {path for project in found for path in _beside(project)}
        return {path: stamp(path) for path in files}
    except TorchReproLintError:
        return {path: stamp(path) for path in options.paths if path.is_file()}


def _beside(project: Project) -> Iterator[Path]:
    """The files that are no Python: settings, the baseline, what says which versions of libraries are in use, and the
    configurations that frameworks read.
    """
    yield from project.settings.files
    if project.settings.baseline is not None:
        yield project.settings.baseline
    yield from requirement_files(project.root)
    yield from python_files(project.root)
    yield from version_files(project.root)
    yield from yaml_files(project.root)
