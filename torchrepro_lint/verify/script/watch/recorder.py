"""Who tells what: the process and its step, and whether operations are recorded now."""

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
from torchrepro_lint.verify.script.record import RecordWriter
from torchrepro_lint.verify.script.watch.outbox import Outbox, Outgoing, Said
from torchrepro_lint.verify.script.watch.places import NOWHERE, Places, caller
from torchrepro_lint.verify.script.watch.quiet import quietly
from torchrepro_lint.verify.script.watch.states import rng_states


@dataclass(frozen=True, slots=True)
class Identity:
    """Which process of a run this is; `worker` and `epoch` for a worker of a DataLoader, as it starts."""

    process: str = MAIN
    worker: int | None = None
    epoch: int | None = None


class Recorder:
    """Tells the record what one process sees. After a fork the child has to take it over: `become`."""

    def __init__(self, plan: Plan, header: Header | None = None, identity: Identity | None = None) -> None:
        identity = identity or Identity()
        self.plan = plan
        self.process, self.worker, self.epoch = identity.process, identity.worker, identity.epoch
        self.step = 0
        self._fetching = False
        self._outbox = Outbox(RecordWriter(plan.path, header))
        self._marks = 0
        self._told_since_step = 0
        self._inside = 0
        self._began = perf_counter()
        self._watching = 0.0
        self._window_hooks: list[Callable[[], None]] = []

    def become(self, identity: Identity) -> None:
        """Go on as another process, after a fork."""
        self.process, self.worker, self.epoch = identity.process, identity.worker, identity.epoch
        self.step = self._marks = self._told_since_step = self._inside = 0
        self._fetching = False
        self._outbox.forget()

    @property
    def recording(self) -> bool:
        """Whether operations and draws are to be told now."""
        return self.within_window and not self._inside

    @property
    def within_window(self) -> bool:
        """Whether this process stands where operations and draws are to be told."""
        plan = self.plan
        if not plan.closely:
            return False
        if self.worker is not None:
            return self._fetching
        return plan.start <= self._marks and (plan.stop is None or self._marks < plan.stop)

    def on_window(self, hook: Callable[[], None]) -> None:
        """Have `hook` called when `within_window` may have changed."""
        self._window_hooks.append(hook)

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

    def tell(
        self,
        kind: Kind,
        name: str = "",
        *,
        inputs: Said = None,
        output: Said = None,
        shown: str | Callable[[], str] | None = None,
        places: Places | None = None,
        **fields: Any,
    ) -> None:
        """Add an entry. `places` are the user's line and the library's; without them they are looked for."""
        with self.hands_off():
            place, via = caller() if places is None else places
            entry = Entry(kind, name, self.process, self.step, self.epoch, self.worker, place, via)
            self._outbox.put(Outgoing(replace(entry, **fields) if fields else entry, inputs, output, shown))
            self._told_since_step += 1

    def mark(self, kind: Kind, name: str, **fields: Any) -> None:
        """Add an entry that windows are counted by; its `detail` has its number, from 0."""
        if self._marks == 0:
            self.tell_environment()
            self.tell_states()
        detail = {**fields.pop("detail", {}), "mark": self._marks}
        self.tell(kind, name, detail=detail, **fields)
        self._marks += 1
        self._window_may_have_changed()
        if self.plan.leave and self._marks == self.plan.stop and self.process == MAIN:
            raise SystemExit(0)

    def finish_step(self) -> None:
        """Begin the next step. What was told before the last one is written: no device computes that any more."""
        self.step += 1
        self.tell_states()
        self._outbox.settle(self._told_since_step)
        self._told_since_step = 0

    def content(self, value: Any) -> Content | None:
        """The content of a value; None where it has none that could be read."""
        with self.hands_off():
            try:
                return Content(value)
            except Unhashable:
                return None
            except Exception:
                # A tensor of a kind that cannot be read must not end the program that is watched.
                return None

    def content_of_tensors(self, tensors: list[Any]) -> Content | None:
        """The content of many tensors, as one."""
        with self.hands_off():
            try:
                return Content.of_tensors(tensors)
            except Exception:
                return self.content(tensors)

    def hands_off(self) -> _HandsOff:
        """A context in which the tool itself computes: nothing of that is told."""
        return _HandsOff(self)

    def tell_states(self) -> None:
        """Add the states of the RNGs."""
        with self.hands_off():
            states = rng_states()
        self.tell("rng", detail=states, places=NOWHERE)

    def tell_environment(self) -> None:
        """Add what is known of the environment by now."""
        self.tell("environment", detail=environment.at_present(), places=NOWHERE)

    def note(self, name: str, words: str) -> None:
        """Add something that limits what can be seen."""
        self.tell("note", name, shown=words)

    def end(self, how: str, status: int) -> None:
        """Say that this process ends."""
        if self.worker is None:
            self.tell_environment()
        self.flush()
        seconds = {"seconds": round(perf_counter() - self._began, 3), "watching": round(self._watching, 3)}
        self.tell("end", how, detail={"status": status, **seconds}, places=NOWHERE)

    def flush(self) -> None:
        """Write all that waits."""
        with self.hands_off():
            self._outbox.settle()


class _HandsOff:
    """What happens within is the tool's own doing."""

    __slots__ = ("_began", "_quiet", "_recorder")

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._quiet: Any = None
        self._began = 0.0

    def __enter__(self) -> None:
        self._recorder._inside += 1
        if self._recorder._inside > 1:
            return
        self._began = perf_counter()
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "no_grad"):
            self._quiet = quietly(torch)
            self._quiet.__enter__()

    def __exit__(self, *error: object) -> None:
        if self._quiet is not None:
            self._quiet.__exit__(None, None, None)
        self._recorder._inside -= 1
        if not self._recorder._inside:
            self._recorder._watching += perf_counter() - self._began
