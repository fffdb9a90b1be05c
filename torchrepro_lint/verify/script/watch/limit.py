"""Ends a process after a number of optimizer steps, as `sys.exit` does: `finally` and `atexit` have their turn."""

from __future__ import annotations

import re
import sys
from typing import NoReturn

from torchrepro_lint.verify.script.entries import STOPPED
from torchrepro_lint.verify.script.watch.places import NOWHERE, is_of_user
from torchrepro_lint.verify.script.watch.recorder import Recorder

# What a program that trains says somewhere: it makes an optimizer, calls `backward`, or has a library do so.
_TRAINS = re.compile(r"\boptim|\bbackward\b|Trainer\b|\.fit\(")


class Stopped(Exception):
    """The end of a task of a `multiprocessing.Pool`, which waits for ever for a task that has left by SystemExit."""


class RunLimit:
    """Ends this process after the plan's number of optimizer steps; a plan without one has no limit.

    Where the process has made no optimizer, backward passes are counted, and where none of the program's own modules
    that are imported by then mentions an optimizer, `backward` or a trainer, the batches of its loaders. Each thread
    counts by itself. A program that catches SystemExit is ended again at its next step.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.has_optimizer = False
        self._told = self._known_to_train = False

    def after_step(self) -> None:
        """An optimizer has made its step."""
        self._end_at(self._recorder.here.step, ("optimizer step", "optimizer steps"))

    def before_backward(self) -> None:
        """A backward pass is to begin: what follows the one before it, such as a step written by hand, is over."""
        here = self._recorder.here
        if not self.has_optimizer:
            self._end_at(here.backwards, ("backward pass", "backward passes"))
        here.backwards += 1

    def before_batch(self) -> None:
        """A loader is to give a batch to the program."""
        here = self._recorder.here
        if not (self.has_optimizer or here.backwards) and self._is_over(here.batches) and not self._trains():
            self._end(("batch", "batches"))
        here.batches += 1

    def _trains(self) -> bool:
        self._known_to_train = self._known_to_train or _mentions_training()
        return self._known_to_train

    def _is_over(self, count: int) -> bool:
        steps = self._recorder.plan.steps
        return steps is not None and count >= steps and self._recorder.worker is None

    def _end_at(self, count: int, what: tuple[str, str]) -> None:
        if self._is_over(count):
            self._end(what)

    def _end(self, what: tuple[str, str]) -> NoReturn:
        if not self._told:
            self._told = True
            steps = self._recorder.plan.steps
            self._recorder.record("note", STOPPED, shown=f"{steps} {what[steps != 1]}", places=NOWHERE)
        raise Stopped if self._recorder.within_pool else SystemExit(0)


def _mentions_training() -> bool:
    """Whether a module of the program itself mentions what trains."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and is_of_user(file):
            try:
                with open(file, encoding="utf-8", errors="replace") as text:
                    if _TRAINS.search(text.read()):
                        return True
            except OSError:
                continue
    return False
