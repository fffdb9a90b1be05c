"""Running `verify` on a script of a test, and hand-made records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torchrepro_lint.verify.script.entries import Entry, Header
from torchrepro_lint.verify.script.record import Record

ROOT = Path(__file__).resolve().parents[1]


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


def answer(*words: str, folder: Path) -> tuple[int, dict[str, Any]]:
    """The exit status, and the first answer of the JSON output."""
    ran = command("--output-format", "json", *words, folder=folder)
    return ran.returncode, _read(ran)[0]


def answers(*words: str, folder: Path, **environment: str) -> list[dict[str, Any]]:
    """All answers of the JSON output: that of the plain runs, and one for each thing that was varied."""
    return _read(command("--output-format", "json", *words, folder=folder, **environment))


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
