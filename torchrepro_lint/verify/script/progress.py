"""How far a run has come: on a terminal one line that is written over, elsewhere a line now and then."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from torchrepro_lint.console import PROGRAM, StatusLine
from torchrepro_lint.verify.script.entries import Header

_TAIL = 4096  # bytes of a record in which the latest step is looked for
_EVERY = 0.5  # seconds
_FIRST_LINE, _EVERY_LINE = 15.0, 60.0  # seconds, where there is no terminal


class Progress:
    """Writes over one line of a terminal; to anything else a line after a quarter of a minute and then every minute."""

    def __init__(self, line: StatusLine, stream: TextIO, command: str = f"{PROGRAM} verify") -> None:
        self._line = line
        self._command = command
        self._stream = stream
        self._last: dict[tuple[int, str | None, int], float] = {}  # several runs may be under way
        self._lock = threading.Lock()

    @classmethod
    @contextlib.contextmanager
    def on(cls, stream: TextIO, command: str = f"{PROGRAM} verify") -> Iterator[Progress]:
        """Progress of a command, whose line is removed at the end."""
        with StatusLine.on(stream) as line:
            yield cls(line, stream, command)

    def show(self, header: Header, record: Path, seconds: float) -> None:
        """Say which run it is, and how far it has come."""
        run = (header.run, header.perturbation, header.stage)
        is_seen = self._line.is_seen
        with self._lock:
            last = self._last.get(run, 0.0)
            if seconds < last:  # it is made again
                last = 0.0
            if seconds - last < (_EVERY if is_seen else _EVERY_LINE if last else _FIRST_LINE):
                return
            self._last[run] = seconds
        fully = ", fully recorded" if header.stage > 1 else ""
        varied = f" with {header.perturbation} varied" if header.perturbation else ""
        words = f"run {header.run}{varied}{fully}: {seconds:.0f} s{_latest(record, header.steps)}"
        if is_seen:
            self._line.show(words)
            return
        with contextlib.suppress(OSError):
            print(f"{self._command}: {words}", file=self._stream, flush=True)

    def show_linter(self) -> None:
        """Say that the runs are over, and that the linter is looking for what explains them."""
        self._line.show("looking for the linter's finding at that line")


def _latest(record: Path, steps: int | None) -> str:
    """The step and the loss that the record tells of last."""
    try:
        with record.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            lines = file.read().split(b"\n")[1:-1]
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("kind") == "loss":
            limit = "" if steps is None else f" of {steps}"
            return f", step {entry.get('step')}{limit}, loss {entry.get('shown', '?')}"
    return ""
