"""How far each thread of a process has come. Threads run beside each other, so each is a sequence by itself."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(slots=True)
class ThreadState:
    """How far one thread has come. `suffix` follows the name of the process; it is empty for the main thread.

    `step` counts its optimizer steps, `epoch` its passes over the loader that it began last, `marks` the entries by
    which windows are counted, `entries` those since its last step, `inside` how deep in the tool's own code it is.
    `backwards` counts its backward passes, `batches` the batches that it was given.
    """

    suffix: str = ""
    epoch: int | None = None
    step: int = 0
    marks: int = 0
    entries: int = 0
    backwards: int = 0
    batches: int = 0
    inside: int = 0


class ThreadStates:
    """The state of each thread that Python code has started. To be made in the main thread, and again after a fork.

    Threads of a library, such as those in which autograd computes for a device, work for the main thread.
    """

    def __init__(self, epoch: int | None) -> None:
        self._main = ThreadState(epoch=epoch)
        self._main_thread = threading.get_ident()
        self._others: dict[str, ThreadState] = {}

    @property
    def current(self) -> ThreadState:
        """The state of the calling thread."""
        ident = threading.get_ident()
        if ident == self._main_thread:
            return self._main
        # `current_thread` would make up a thread for those that Python does not know.
        thread = getattr(threading, "_active", {}).get(ident)
        if thread is None or isinstance(thread, threading._DummyThread):
            return self._main
        return self._others.setdefault(thread.name, ThreadState(f", thread {thread.name}"))


class Nesting(threading.local):
    """Whether this thread is inside a function that is watched already."""

    inside = False
