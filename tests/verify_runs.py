"""Running `verify` on a script of a test, and hand-made records."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torchrepro_lint.verify.script.entries import Entry, Header
from torchrepro_lint.verify.script.record import Record

ROOT = Path(__file__).resolve().parents[1]
_PRELOADED = Path(__file__).with_name("preloaded_commands.py")

# With all fresh memory the same, too.
_AT_THE_START = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "MALLOC_PERTURB_": "42"}

Run = Callable[..., subprocess.CompletedProcess[str]]


def command(*words: str, folder: Path, name: str = "verify", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder: `verify`, or the command of that name."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", "torchrepro_lint", name, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


class Commands:
    """The command line in forks of a process that has imported torch, for tests of what is found and not of how
    processes start. All have one hash seed: what depends on that differs
    between new processes only.
    """

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def __call__(
        self, *words: str, folder: Path, name: str = "verify", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """What `command` gives."""
        if sys.platform != "linux":  # elsewhere the libraries of the system do not stand a fork after they were used
            return command(*words, folder=folder, name=name, **environment)
        given = {**os.environ, **_AT_THE_START, **environment}
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, str(_PRELOADED)], env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        assert self._server.stdin is not None and self._server.stdout is not None
        with tempfile.TemporaryDirectory() as scratch:
            output, errors = Path(scratch, "output"), Path(scratch, "errors")
            request = {"words": [name, *words], "folder": str(folder), "environment": given}
            files = {"output": str(output), "errors": str(errors)}
            self._server.stdin.write(json.dumps({**request, **files}).encode() + b"\n")
            status = int(self._server.stdout.readline())
            return subprocess.CompletedProcess(
                [name, *words], status, output.read_text("utf-8"), errors.read_text("utf-8")
            )

    def end(self) -> None:
        """End the process, if it was started."""
        if self._server is not None:
            assert self._server.stdin is not None and self._server.stdout is not None
            self._server.stdin.close()
            self._server.wait()
            self._server.stdout.close()
            self._server = None


#: One for all tests of a process.
forked_command = Commands()
atexit.register(forked_command.end)


def answer(*words: str, folder: Path, run: Run = command) -> tuple[int, dict[str, Any]]:
    """The exit status, and the first answer of the JSON output."""
    ran = run("--output-format", "json", *words, folder=folder)
    return ran.returncode, _read(ran)[0]


def answers(*words: str, folder: Path, run: Run = command, **environment: str) -> list[dict[str, Any]]:
    """All answers of the JSON output: that of the plain runs, and one for each thing that was varied."""
    return _read(run("--output-format", "json", *words, folder=folder, **environment))


def _read(ran: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert ran.stdout, ran.stderr
    read = json.loads(ran.stdout)
    assert isinstance(read, list)
    return read


def script(folder: Path, text: str, name: str = "train.py") -> Path:
    """Write a script."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    return path


def line_of(path: Path, words: str) -> int:
    """The line that holds these words; it is one."""
    lines = [number for number, line in enumerate(path.read_text().splitlines(), start=1) if words in line]
    assert len(lines) == 1, lines
    return lines[0]


def ends(pid: int) -> bool:
    """Whether a process has ended or does so now: one that was killed must first get its turn on a busy machine."""
    patience = 600
    while (alive := _alive(pid)) and patience:
        time.sleep(0.1)
        patience -= 1
    return not alive


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def record(entries: Sequence[Entry], stage: int = 1) -> Record:
    """A record that was not run."""
    return Record(Header(("train.py",), "/project", stage=stage), tuple(entries))
