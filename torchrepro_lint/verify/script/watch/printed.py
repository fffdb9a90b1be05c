"""The lines that the program prints, as they are compared: without what is about time, memory and places on disk."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from typing import Any

from torchrepro_lint.verify.script.watch.places import Places, caller
from torchrepro_lint.verify.script.watch.recorder import Recorder

_MOST = 5_000  # lines that are told
_WIDEST = 200
_NUMBER = r"[-+]?\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
# What differs between runs and says nothing of what was computed; an experiment with the clock finds the rest.
_VOLATILE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d|\b)|\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?"  # dates and times of day
    r"|0x[0-9a-fA-F]{6,}"  # where an object lies
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|(?:[A-Za-z]:)?[\w.~-]*[/\\][\w./\\~-]+"  # a path
    rf"|{_NUMBER}\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|[smhd]|ms|us|µs|ns|it/s|s/it|[kKMGT]i?B|fps|/s)(?![A-Za-z])"
    rf"|(?i:\b(?:\w*time|took|elapsed|duration|eta|speed|throughput|fps|pid|port|secs?|memory|mem|date))\b\W{{0,6}}{_NUMBER}"
)


class _Begun(threading.local):
    """What a thread has printed of a line, and where it began to."""

    line = ""
    places: Places | None = None


class PrintWatch:
    """Tells each line that goes to standard output, in the main process and those that it forks for good."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._here = _Begun()
        self._told = 0

    def watch(self) -> None:
        """Put the hook into `sys.stdout` as it is now. A program that puts something else there calls it in the end."""
        stream: Any = sys.stdout
        write = stream.write

        def tell_and_write(text: str) -> int:
            if isinstance(text, str):
                self._take(text)
            return int(write(text))

        stream.write = tell_and_write

    def _take(self, text: str) -> None:
        recorder = self._recorder
        if recorder.worker is not None or recorder.within_pool or recorder.here.inside or self._told >= _MOST:
            return
        here = self._here
        if here.places is None:
            here.places = caller()
        *lines, here.line = (here.line + text).split("\n")
        for line in lines:
            if line.strip():
                self._tell(line.rpartition("\r")[2], here.places)
        if lines:
            here.places = None

    def _tell(self, line: str, places: Places) -> None:
        self._told += 1
        self._recorder.record(
            "print",
            "a printed line",
            output=hashlib.blake2b(stable(line).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
            shown=line[:_WIDEST],
            places=places,
            detail={"after": self._recorder.here.marks},
        )


def stable(line: str) -> str:
    """A line without what is only about time, memory or a place on the disk."""
    return _VOLATILE.sub("~", line)
