"""What a process records: the process and its step, and whether operations are recorded now."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from torchrepro_lint.verify.hashing import Content, Unhashable
from torchrepro_lint.verify.script import environment
from torchrepro_lint.verify.script.entries import MAIN, Entry, Header, Kind
from torchrepro_lint.verify.script.plan import Plan
from torchrepro_lint.verify.script.ranks import rank_name
from torchrepro_lint.verify.script.record import RecordWriter
from torchrepro_lint.verify.script.watch.entry_queue import EntryQueue, PendingEntry, PendingHash
from torchrepro_lint.verify.script.watch.places import NOWHERE, Places, caller
from torchrepro_lint.verify.script.watch.quiet import quietly
from torchrepro_lint.verify.script.watch.states import rng_states
from torchrepro_lint.verify.script.watch.threads import ThreadState, ThreadStates
from torchrepro_lint.verify.tensor_sums import memory_taken


@dataclass(frozen=True, slots=True)
class Identity:
    """Which process of a run this is; `worker` and `epoch` for a worker of a DataLoader, as it starts."""

    process: str = MAIN
    worker: int | None = None
    epoch: int | None = None


class Recorder:
    """Records what one process does. After a fork, the child calls `continue_as`."""

    def __init__(self, plan: Plan, header: Header | None = None, identity: Identity | None = None) -> None:
        identity = identity or Identity()
        self.plan = plan
        self.process, self.worker = identity.process, identity.worker
        self._threads = ThreadStates(identity.epoch)
        self._ranks = {rank_name(rank) for rank in range(1, plan.ranks)}
        self._fetching = False
        self.within_pool = False  # whether this process works for a `multiprocessing.Pool`
        self._queue = EntryQueue(RecordWriter(plan.path, header))
        self._began = perf_counter()
        self._watching = 0.0
        self._watched_before = 0.0  # of `_watching`, until this step began
        self._costliest = (0.0, 0)  # the most that was spent on watching within one step, and which
        self._window_hooks: list[Callable[[], None]] = []
        self._end_hooks: list[Callable[[], None]] = []

    def continue_as(self, identity: Identity) -> None:
        """Go on as another process, after a fork."""
        self.process, self.worker = identity.process, identity.worker
        self._threads = ThreadStates(identity.epoch)
        self._fetching = False
        self._end_hooks.clear()  # those are of threads that a fork does not have
        self._queue.discard()

    @property
    def name(self) -> str:
        """The name under which this thread records: that of the process in its main thread."""
        return self.process + self._threads.current.suffix

    @property
    def here(self) -> ThreadState:
        """How far this thread has come."""
        return self._threads.current

    @property
    def epoch(self) -> int | None:
        """The pass over the loader that this thread began last."""
        return self._threads.current.epoch

    @epoch.setter
    def epoch(self, epoch: int | None) -> None:
        self._threads.current.epoch = epoch

    @property
    def recording(self) -> bool:
        """Whether operations and draws are to be recorded now."""
        return self.within_window and not self._threads.current.inside

    @property
    def within_window(self) -> bool:
        """Whether this process stands where operations and draws are to be recorded."""
        plan = self.plan
        if not plan.is_full:
            return False
        if self.worker is not None:
            return self._fetching
        marks = self._threads.current.marks
        return plan.start <= marks and (plan.stop is None or marks < plan.stop)

    def on_window(self, hook: Callable[[], None]) -> None:
        """Have `hook` called when `within_window` may have changed."""
        self._window_hooks.append(hook)

    def on_end(self, hook: Callable[[], None]) -> None:
        """Have `hook` called when the process ends."""
        self._end_hooks.append(hook)

    def fetch(self, number: int) -> None:
        """A worker begins this fetch of its epoch."""
        self._fetching = any(
            (window.worker, window.epoch) == (self.process, self.epoch) and window.start <= number < window.stop
            for window in self.plan.fetches
        )
        self._window_may_have_changed()

    def fetched(self) -> None:
        """A worker has finished a fetch."""
        self._fetching = False
        self._window_may_have_changed()

    def _window_may_have_changed(self) -> None:
        for hook in self._window_hooks:
            hook()

    def record(
        self,
        kind: Kind,
        name: str = "",
        *,
        inputs: PendingHash = None,
        output: PendingHash = None,
        shown: str | Callable[[], str] | None = None,
        places: Places | None = None,
        **fields: Any,
    ) -> None:
        """Add an entry. `places` are the user's line and the library's; without them they are looked for."""
        with self.unrecorded():
            place, via = caller() if places is None else places
            here = self._threads.current
            entry = Entry(kind, name, self.name, here.step, here.epoch, self.worker, place, via)
            self._queue.put(PendingEntry(replace(entry, **fields) if fields else entry, inputs, output, shown))
            here.entries += 1

    def mark(self, kind: Kind, name: str, **fields: Any) -> None:
        """Add an entry that windows are counted by; its `detail` has its number, from 0."""
        here = self._threads.current
        if here.marks == 0:
            self.record_environment()
            self.record_states()
        detail = {**fields.pop("detail", {}), "mark": here.marks}
        self.record(kind, name, detail=detail, **fields)
        here.marks += 1
        self._window_may_have_changed()
        if self.plan.leave and here.marks == self.plan.stop and (self.name == MAIN or self.name in self._ranks):
            raise SystemExit(0)

    def finish_step(self) -> None:
        """Begin the next step. What was recorded before the last one is written: no device computes that any more."""
        here = self._threads.current
        here.step += 1
        self.record_states()
        self._queue.write(here.entries)
        here.entries = 0
        self._costliest = max(self._costliest, (self._watching - self._watched_before, here.step - 1))
        self._watched_before = self._watching

    def content(self, value: Any) -> Content | None:
        """The content of a value; None where it has none that could be read."""
        with self.unrecorded():
            try:
                return Content(value)
            except Unhashable:
                return None
            except Exception:
                # A tensor of a kind that cannot be read must not end the program that is watched.
                return None

    def content_of_tensors(self, tensors: list[Any]) -> Content | None:
        """The content of many tensors, as one."""
        with self.unrecorded():
            try:
                return Content.of_tensors(tensors)
            except Exception:
                return self.content(tensors)

    def unrecorded(self) -> _Unrecorded:
        """A context in which the tool itself computes: nothing of that is recorded, and its time is counted."""
        return _Unrecorded(self)

    def record_states(self) -> None:
        """Add the states of the RNGs."""
        with self.unrecorded():
            states = rng_states()
        self.record("rng", detail=states, places=NOWHERE)

    def record_environment(self) -> None:
        """Add what is known about the environment by now."""
        self.record("environment", detail=environment.at_present(), places=NOWHERE)

    def note(self, name: str, words: str) -> None:
        """Add something that limits what can be seen."""
        self.record("note", name, shown=words)

    def end(self, how: str, status: int) -> None:
        """Say that this process ends."""
        for hook in self._end_hooks:
            hook()
        if self.worker is None:
            self.record_environment()
        self.flush()
        detail = {
            "status": status,
            "seconds": round(perf_counter() - self._began, 3),
            "watching": round(self._watching, 3),
            "costliest step": [self._costliest[1], round(self._costliest[0], 4)],
            "memory": memory_taken,
        }
        self.record("end", how, detail=detail, places=NOWHERE)

    def flush(self) -> None:
        """Write all that waits."""
        with self.unrecorded():
            self._queue.write()


class _Unrecorded:
    """See `Recorder.unrecorded`."""

    __slots__ = ("_began", "_here", "_quiet", "_recorder")

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._here = recorder._threads.current
        self._quiet: Any = None
        self._began = 0.0

    def __enter__(self) -> None:
        self._here.inside += 1
        if self._here.inside > 1:
            return
        self._began = perf_counter()
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "no_grad"):
            self._quiet = quietly(torch)
            self._quiet.__enter__()

    def __exit__(self, *error: object) -> None:
        if self._quiet is not None:
            self._quiet.__exit__(None, None, None)
        self._here.inside -= 1
        if not self._here.inside:
            self._recorder._watching += perf_counter() - self._began
