"""One program, one fresh process, one record."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.verify.claims import Device, StartMethod
from torchrepro_lint.verify.record import Record, read_record

_CHILD = Path(__file__).with_name("child.py")
_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# Left by a shell or a framework, these would decide what the program is to be seen deciding.
_DROPPED = ("CUBLAS_WORKSPACE_CONFIG", "PL_GLOBAL_SEED", "PL_SEED_WORKERS", "PYTHONWARNINGS", "PYTHONSAFEPATH")


@dataclass(frozen=True, slots=True)
class Condition:
    """Under what a program is run. `perturb` is the one thing varied from the plain run: a seeding function by name,
    or `determinism`. `hash_seed` is the process's PYTHONHASHSEED.
    """

    device: Device
    start_method: StartMethod | None = None
    perturb: str | None = None
    hash_seed: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run.

    `output` is all that was printed to standard output. `trouble` says in a few words why the run is
    not to be compared (time limit, a process that died); None where it came to its end, by an exception or not.
    """

    condition: Condition
    record: Record
    output: bytes
    trouble: str | None
    errors: str


def run_program(folder: Path, script: str, condition: Condition, *, timeout: float, alone: bool) -> Run:
    """Run `folder/script` in a fresh process under the observer, from a temporary copy.

    Only the script is copied where it stands `alone`, the whole folder where it does not. `timeout` is in seconds:
    then the whole process group is ended, workers included.
    """
    with tempfile.TemporaryDirectory(prefix="verify-") as scratch:
        place = Path(scratch, "program")
        if alone:
            place.mkdir()
            shutil.copy2(folder / script, place / script)
        else:
            shutil.copytree(folder, place, ignore=shutil.ignore_patterns("__pycache__"))
        record, output, errors = (Path(scratch, name) for name in ("record", "output", "errors"))
        command = [sys.executable, str(_CHILD), "--record", str(record)]
        if condition.perturb:
            command += ["--perturb", condition.perturb]
        if condition.start_method:
            command += ["--start-method", condition.start_method]
        # Files and not pipes: a worker that outlives the program would hold a pipe open.
        with output.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(
                [*command, script],
                cwd=place,
                env=_environment(condition),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                status: int | None = process.wait(timeout)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end_group(process)
        seen = read_record(record)
        return Run(
            condition=condition,
            record=seen,
            output=output.read_bytes(),
            trouble=_trouble(seen, status, timeout),
            errors=errors.read_bytes().decode("utf-8", "replace"),
        )


def _trouble(record: Record, status: int | None, timeout: float) -> str | None:
    if status is None:
        return f"did not end within {timeout:g} s"
    if status < 0:
        return f"ended by signal {-status}"
    if not record.ended:
        return f"stopped with exit status {status} before it came to its end"
    return None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the process group; the leader has ended already unless it ran out of time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _environment(condition: Condition) -> dict[str, str]:
    values = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    values.update(dict.fromkeys(_ONE_THREAD, "1"))
    values["PYTHONHASHSEED"] = str(condition.hash_seed)
    values["PYTHONDONTWRITEBYTECODE"] = "1"
    if condition.device == "cpu":
        values["CUDA_VISIBLE_DEVICES"] = "-1"
    return values
