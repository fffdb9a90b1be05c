"""Forks, processes of multiprocessing, exits; and what cannot be watched, said."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

from torchrepro_lint.verify.script.entries import MAIN
from torchrepro_lint.verify.script.plan import Plan
from torchrepro_lint.verify.script.watch.loaders import BatchWatch
from torchrepro_lint.verify.script.watch.places import NOWHERE, by_way_of
from torchrepro_lint.verify.script.watch.recorder import Identity, Recorder

_COMPILERS = ("torch/_inductor", "torch/_dynamo", "triton")  # they train nothing
_WIDEST = 100
_PROGRAMS = ("python", "torchrun", "accelerate", "deepspeed", "ray", "mpirun")


class ProcessWatch:
    """Gives each process of the run its name, and says how it ends."""

    def __init__(self, recorder: Recorder, batches: BatchWatch) -> None:
        self._recorder = recorder
        self._batches = batches
        self._processes = itertools.count(1)
        self._forks = 0
        self._starting: Identity | None = None

    def watch(self) -> None:
        """Follow forks and ends; `watch_multiprocessing` and `watch_subprocess` when those are imported."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._fork, after_in_child=self._forked)
        leave = os._exit

        @functools.wraps(leave)
        def _exit(status: int) -> None:
            self._recorder.end("os._exit", status)
            leave(status)

        os._exit = _exit  # type: ignore[assignment]

    def watch_multiprocessing(self, process_module: Any) -> None:
        """Have processes of `multiprocessing.process` carry the instruments, whichever way they start."""
        base = process_module.BaseProcess
        start = base.start

        @functools.wraps(start)
        def start_watched(process: Any) -> None:
            identity = self._identity(process)
            if process._target is not None:
                process._target = Watched(process._target, self._recorder.plan, identity)
            elif getattr(process, "_start_method", None) not in (None, "fork"):
                self._recorder.note("unwatched process", f"{type(process).__name__} runs by a method of its own")
            self._starting = identity
            try:
                start(process)
            finally:
                self._starting = None

        base.start = start_watched

    def watch_subprocess(self, subprocess: Any) -> None:
        """Say where the program starts another Python program: that one is not watched."""
        make = subprocess.Popen.__init__

        @functools.wraps(make)
        def __init__(popen: Any, args: Any, *more: Any, **options: Any) -> None:
            words = args.split() if isinstance(args, str) else [os.fsdecode(word) for word in args] or [""]
            if words and os.path.basename(words[0]).startswith(_PROGRAMS) and not by_way_of(*_COMPILERS):
                text = " ".join(" ".join(words[:6]).split())
                self._recorder.note("unwatched program", text if len(text) <= _WIDEST else text[:_WIDEST] + "...")
            make(popen, args, *more, **options)

        subprocess.Popen.__init__ = __init__

    def _identity(self, process: Any) -> Identity:
        within = "" if self._recorder.name == MAIN else f"{self._recorder.name}, "
        number = _worker_number(process)
        if number is None:
            return Identity(f"{within}process {next(self._processes)}")
        return Identity(f"{within}worker {number} of loader {self._batches.loader}", number, self._recorder.epoch)

    def _fork(self) -> None:
        self._recorder.flush()
        if self._starting is None:
            # Counted here: what a child counts, its parent never hears of.
            self._forks += 1

    def _forked(self) -> None:
        within = "" if self._recorder.name == MAIN else f"{self._recorder.name}, "
        self._recorder.continue_as(self._starting or Identity(f"{within}fork {self._forks}"))
        self._forks, self._starting = 0, None
        self._recorder.record("process", "fork", places=NOWHERE)


class Watched:
    """The target of a process, with the instruments put in place first where they are not there already."""

    def __init__(self, target: Callable[..., Any], plan: Plan, identity: Identity) -> None:
        self._target = target
        self._plan = plan
        self._identity = identity

    @property
    def _is_of_pool(self) -> bool:
        return getattr(self._target, "__module__", None) in ("multiprocessing.pool", "concurrent.futures.process")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from torchrepro_lint.verify.script.watch import install

        if install.installed is not None:
            install.installed.within_pool = self._is_of_pool
            return self._target(*args, **kwargs)
        recorder = install.install(self._plan, identity=self._identity)
        recorder.within_pool = self._is_of_pool
        recorder.record("process", "spawn", places=NOWHERE)
        try:
            result = self._target(*args, **kwargs)
        except Exception as error:
            recorder.record("failure", type(error).__name__, shown=str(error))
            recorder.end("exception", 1)
            raise
        recorder.end("return", 0)
        return result


def _worker_number(process: Any) -> int | None:
    """The number of a DataLoader's worker; None for any other process."""
    workers = sys.modules.get("torch.utils.data._utils.worker")
    loop = getattr(workers, "_worker_loop", None)
    if loop is None or process._target is not loop:
        return None
    bound = inspect.signature(loop).bind(*process._args, **process._kwargs)
    number = bound.arguments.get("worker_id")
    return number if isinstance(number, int) else None


def watch_compile(recorder: Recorder, torch: Any) -> None:
    """Say where the program compiles: what runs inside is not seen operation by operation."""
    original = getattr(torch, "compile", None)
    if original is None:
        return

    @functools.wraps(original)
    def compile(*args: Any, **kwargs: Any) -> Any:
        if not kwargs.get("disable"):
            recorder.note("torch.compile", "what is compiled is not seen operation by operation")
        return original(*args, **kwargs)

    torch.compile = compile
