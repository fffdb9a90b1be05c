"""One run of the script in a fresh process, under a time limit, with all that it starts."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from torchrepro_lint.verify.process_group import end_group, start_group
from torchrepro_lint.verify.script.entries import MAIN, Entry, Header, Place
from torchrepro_lint.verify.script.leftovers import content, files_below, written_since
from torchrepro_lint.verify.script.plan import Plan
from torchrepro_lint.verify.script.record import Record, RecordError, read_record
from torchrepro_lint.verify.script.scratch import ScratchFolder

_CHILD = Path(__file__).with_name("child.py")
_TAIL = 4000  # bytes of what the script printed that are kept
_MOST = 20_000  # names of files in the folder that are looked at
_POLL = 0.1  # seconds
_ABORT_TIME = 2.0  # seconds that an aborted process has to write its traceback
_FRAME = re.compile(r'File "(.+)", line (\d+) in .+')
# Trackers of experiments give each run a name and numbers of its own.
_OF_TRACKERS = re.compile(
    r"(^|/)(wandb|mlruns|mlartifacts|\.neptune|clearml|comet)/|events\.out\.tfevents|\.log$|\.db$"
)
_LIBRARY = re.compile(r"site-packages|[/\\]lib[/\\]python3|^<|torchrepro_lint[/\\]verify")


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run.

    `trouble` says in a few words why the run did not come to a good end; None where it did. `failed` is true where the
    script itself ended it, by an exception or an exit status, and not the time limit, a signal or the tool;
    `out_of_time` where it was the time limit. `output` is the end of what it printed, to either stream. `path` is the
    file of its record. `wrote` are the files that it wrote below its folder, with a hash of their content, and
    `overwrote` those of them that had been there before.
    """

    record: Record | None
    path: Path
    seconds: float
    trouble: str | None = None
    failed: bool = False
    out_of_time: bool = False
    output: str = ""
    wrote: Mapping[str, str | None] = field(default_factory=dict)
    overwrote: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launcher:
    """How the runs of one script are started.

    `timeout` is in seconds for one run. `environment` is added to that of this process. `progress` is called a few
    times a second while a run is under way, with its header, its record's file and the seconds that it has taken.
    """

    folder: Path
    timeout: float
    environment: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[Header, Path, float], None] = lambda header, path, seconds: None
    _stopping: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """End the runs that other threads have under way."""
        self._stopping.set()

    def run(
        self,
        header: Header,
        name: str,
        plan: Plan | None = None,
        extra: Mapping[str, str] | None = None,
        scratch: ScratchFolder | None = None,
    ) -> Run:
        """Run the script once. The record is written to `name` in the folder, unless the plan says otherwise.

        With `scratch`, in that folder instead of the header's.
        """
        path = self.folder / name
        path.unlink(missing_ok=True)
        plan = plan or Plan(str(path))
        trace, output = path.with_suffix(".trace"), path.with_suffix(".output")
        job: dict[str, object] = {
            "plan": {**asdict(plan), "path": str(path)},
            "header": asdict(header),
            "trace": str(trace),
        }
        if scratch is not None:
            job["header"] = {**asdict(header), "command": [scratch.moved(word) for word in header.command]}
            job["view"] = None if scratch.view is None else {**scratch.view, "keep": [str(self.folder)]}
        before = _names(header.folder, self.folder) if scratch is None else frozenset()
        began, moment = time.monotonic(), time.time()
        # A file and not a pipe: a process that outlives the script would hold a pipe open.
        with output.open("wb") as out:
            process = start_group(
                [sys.executable, str(_CHILD), json.dumps(job)],
                env={**os.environ, **self.environment, **(extra or {})},
                cwd=None if scratch is None else scratch.cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
            try:
                status = self._wait(process, header, path, began)
                if status is None:
                    _abort(process)
            finally:
                end_group(process)
        seconds = time.monotonic() - began
        printed = _tail(output)
        try:
            record = read_record(path)
        except RecordError:
            return Run(None, path, seconds, f"left no recording (exit status {status})", output=printed)
        if scratch is not None:
            record = scratch.as_if_original(record, path)
        trouble, failed = _trouble(record, status, self.timeout, trace, scratch)
        written = self._written(header.folder, moment, scratch)
        if scratch is not None:
            record = _with_files(record, written, process.pid)
        overwrote = tuple(
            one for one in written if (one in before if scratch is None else Path(scratch.original, one).exists())
        )
        return Run(record, path, seconds, trouble, failed, status is None, printed, written, overwrote)

    def _written(self, folder: str, moment: float, scratch: ScratchFolder | None) -> dict[str, str | None]:
        where = folder if scratch is None else scratch.upper
        # What lies in the upper folder of a view has been written, whatever time it bears.
        names = written_since(where, 0.0 if scratch is not None and scratch.view is not None else moment, self.folder)
        ours = frozenset() if scratch is None else scratch.replaced
        return {name: content(Path(where, name)) for name in names if name not in ours}

    def _wait(self, process: subprocess.Popen[bytes], header: Header, path: Path, began: float) -> int | None:
        """The exit status; None where the time is over."""
        while (seconds := time.monotonic() - began) < self.timeout and not self._stopping.is_set():
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(min(_POLL, max(0.0, self.timeout - seconds)))
            self.progress(header, path, seconds)
        return None


def _abort(process: subprocess.Popen[bytes]) -> None:
    """Have the process say where it is, and end."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGABRT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_ABORT_TIME)


def _with_files(record: Record, written: Mapping[str, str | None], pid: int) -> Record:
    """The record with the files that were written. The number of the process is not part of their names."""
    number = re.compile(rf"(?<!\d){pid}(?!\d)")
    files = (
        Entry("file", number.sub("PID", name), output=content, shown=name)
        for name, content in written.items()
        if not _OF_TRACKERS.search(name)
    )
    return replace(record, entries=(*record.entries, *sorted(files, key=lambda file: file.name)))


def _names(folder: str, ours: Path) -> frozenset[str]:
    """The files below a folder, relative to it."""
    paths: Iterable[str] = (path for path, _ in itertools.islice(files_below(folder, ours), _MOST))
    return frozenset(os.path.relpath(path, folder).replace(os.sep, "/") for path in paths)


def _trouble(
    record: Record, status: int | None, timeout: float, trace: Path, scratch: ScratchFolder | None
) -> tuple[str | None, bool]:
    if status is None:
        return f"did not end within {timeout:g} s{_last_place(trace, scratch)}", False
    # One rank that fails takes the others along: the first failure is the one.
    failures = [
        one for one in record.of_kind("failure") if one.process == MAIN or re.fullmatch(r"rank \d+", one.process)
    ]
    if failures and failures[0].process != MAIN:
        return f"failed in {failures[0].process}: {_failure(failures[0])}", True
    if status < 0:
        return f"was ended by {_signal_name(-status)}{_last_place(trace, scratch)}", False
    if (failure := record.failure) is not None:
        return f"failed: {_failure(failure)}", True
    if record.end is None:
        return f"stopped with exit status {status} before Python came to its end", True
    return (f"ended with exit status {status}", True) if status else (None, False)


def _failure(failure: Entry) -> str:
    place = f" at {failure.place.below(os.getcwd())}" if failure.place else ""  # noqa: PTH109 - it is compared as text
    lines = (failure.shown or "").strip().splitlines()
    return f"{failure.name}{': ' + lines[0] if lines else ''}{place}"


def _last_place(trace: Path, scratch: ScratchFolder | None) -> str:
    """Where the main thread was when the process was aborted, from what faulthandler wrote: the innermost line that is
    not a library's.
    """
    try:
        text = trace.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # One paragraph for each thread, that of the main thread last; a list of extension modules may follow.
    threads = [frames for paragraph in text.split("\n\n") if (frames := _FRAME.findall(paragraph))]
    if not threads:
        return ""
    file, line = next((frame for frame in threads[-1] if not _LIBRARY.search(frame[0])), threads[-1][0])
    place = Place(file, int(line)) if scratch is None else scratch.place(Place(file, int(line)))
    return f"; it was at {place.below(os.getcwd())}"  # noqa: PTH109 - it is compared as text


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        text = file.read().decode("utf-8", "backslashreplace")
    return text if size <= _TAIL else text.partition("\n")[2] or text
