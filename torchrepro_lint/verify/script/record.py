"""The file of one run, a recording: JSON lines, the header first, then the entries in the order they were seen in.

Several processes of a run append to one file, a whole line at a time, so the order is that of each process by itself.
A process that is killed leaves what it had written: a record without `end`, its last line perhaps cut off.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify.script.entries import KINDS, MAIN, Entry, Header, Place

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = "torchrepro-lint record"
VERSION = 1
_HIGH = 500  # the least number for the file in the watched process


class RecordError(TorchReproLintError):
    """A file that is not a record, or that this version cannot read. The text names the file."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one run has told. `truncated` is true where the last line is cut off."""

    header: Header
    entries: tuple[Entry, ...]
    truncated: bool = False

    @property
    def environment(self) -> dict[str, str]:
        """What the main process knew of its environment when it ended."""
        known: dict[str, str] = {}
        for entry in self.of_kind("environment"):
            if entry.process == MAIN:
                known.update(entry.detail)
        return known

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of the processes that told something, in order of their first entry."""
        return tuple(dict.fromkeys(entry.process for entry in self.entries))

    @property
    def end(self) -> Entry | None:
        """How the main process ended; None where it did not come to its end."""
        return next((entry for entry in self.of_kind("end") if entry.process == MAIN), None)

    @property
    def failure(self) -> Entry | None:
        """The exception that ended the main process."""
        return next((entry for entry in self.of_kind("failure") if entry.process == MAIN), None)

    def of_kind(self, *kinds: str) -> Iterator[Entry]:
        """The entries of these kinds, in order."""
        return (entry for entry in self.entries if entry.kind in kinds)

    def of_process(self, process: str) -> Iterator[Entry]:
        """The entries of one process, in order."""
        return (entry for entry in self.entries if entry.process == process)


class RecordWriter:
    """Appends lines to the file of a run, unbuffered: a fork must not inherit half a line, nor a crash lose one.

    Other processes of the run continue the file: they open it without a header.
    """

    def __init__(self, path: str, header: Header | None = None) -> None:
        self.path = path
        self._file = self._open()
        if header is not None:
            self._line({"format": FORMAT, "version": VERSION, **_present(asdict(header))})

    def write(self, entry: Entry) -> None:
        """Add one entry."""
        self._line(_to_json(entry))

    def _open(self) -> int:
        low = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        if fcntl is None:
            return low
        # Where a program that closes all it has inherited does not meet it, nor gets the number for a file of its own.
        try:
            high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        except OSError:  # so many are not allowed here
            return low
        os.close(low)
        return high

    def _line(self, values: Mapping[str, Any]) -> None:
        # One write for a line: other processes append to the same file.
        line = json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            os.write(self._file, line)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            self._file = self._open()
            os.write(self._file, line)


def read_record(path: Path) -> Record:
    """Read a record.

    Raises:
        RecordError: there is no such file, it is not a record, it is of a later format, or a whole line is damaged.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        kept = sorted(path.glob("*.jsonl")) if path.is_dir() else []
        meant = f"; a recording in it is {kept[0]}" if kept else ""
        raise RecordError(f"{path}: {error.strerror or error}{meant}") from None
    lines = data.split(b"\n")
    # What follows the last newline is a line that was not finished.
    rest = lines.pop()
    header = _header(path, lines[0] if lines else rest)
    return Record(header, tuple(_entries(path, lines[1:])), truncated=bool(rest.strip()))


def _header(path: Path, line: bytes) -> Header:
    values = _json_object(line)
    if values is None or values.get("format") != FORMAT:
        raise RecordError(f"{path}: not a recording of torchrepro-lint verify")
    version = values.get("version")
    if version != VERSION:
        raise RecordError(
            f"{path}: a recording of format {version}; this version of torchrepro-lint reads format {VERSION}"
        )
    known = {field.name for field in fields(Header)}
    try:
        header = Header(**{name: value for name, value in values.items() if name in known})
        return Header(**{**asdict(header), "command": tuple(header.command)})
    except TypeError as error:
        raise RecordError(f"{path}: the header of the recording is damaged: {error}") from None


def _entries(path: Path, lines: Iterable[bytes]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=2):
        values = _json_object(line)
        # A kind or a field that is not known is of a later version which this format still holds.
        if values is not None and isinstance(values.get("kind"), str):
            if values["kind"] in KINDS:
                yield _from_json(values)
        else:
            raise RecordError(f"{path}: line {number} is damaged")


def _json_object(line: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except ValueError:
        return None
    return values if isinstance(values, dict) else None


_FIELDS = tuple(field.name for field in fields(Entry))


def _to_json(entry: Entry) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(entry, name) for name in _FIELDS}
    if entry.process == MAIN:
        del values["process"]
    for name in ("place", "via"):
        if (place := values[name]) is not None:
            values[name] = [place.file, place.line, place.function]
    values["detail"] = dict(entry.detail)
    return _present(values)


def _from_json(values: dict[str, Any]) -> Entry:
    kept = {name: values[name] for name in _FIELDS if name in values}
    for name in ("place", "via"):
        if name in kept:
            kept[name] = Place(*kept[name])
    return Entry(**kept)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that say something: a line is short where there is little to say."""
    return {name: value for name, value in values.items() if value not in (None, "", {}, ())}
