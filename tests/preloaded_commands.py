"""A process that has imported torch and the tool, and runs the command line in a fork of itself: `python
preloaded_commands.py`. Each run of a script that the command asks for is a fork again, where the environment of the run is
the command's own in what Python and torch read when they begin; else it is started as usual.

A request is a line of JSON on standard input: the `words` of the command line, the `folder` to run it in, the
`environment`, and the files for `output` and `errors`. A line with the exit status comes back.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.thread import _threads_queues
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from torchrepro_lint import cli
from torchrepro_lint.verify import guard
from torchrepro_lint.verify.guard import group_started
from torchrepro_lint.verify.script import child, launch
from torchrepro_lint.verify.script.watch import places

_PRELOADED = (
    "torch._dynamo",
    "torch.utils.data",
    "torchrepro_lint.rules",
    "torchrepro_lint.verify.cli",
    "torchrepro_lint.verify.repair.cli",
    "torchrepro_lint.verify.script.cli",
    "torchrepro_lint.verify.script.watch.install",
)
#: What is read when a process begins, or when torch is imported.
_READ_AT_THE_START = ("PYTHON", "OMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "MALLOC_", "LD_", "TORCH")
#: Put in place when the program imports loaders, which here has been done.
_OF_LOADERS = ("workers", "eval")
_exit = os._exit  # watched in a run
_start_group = launch.start_group
_ENVIRONMENT = dict(os.environ)


def main() -> None:
    """Serve until the requests end."""
    for name in _PRELOADED:
        import_module(name)
    kind = places._kind
    # What is around the script is no line of it.
    places._kind = lambda file: "ours" if file == __file__ else kind(file)  # type: ignore[assignment]
    answers = os.dup(1)
    _redirect(1, os.devnull)
    gc.collect()
    gc.freeze()
    for line in iter(sys.stdin.buffer.readline, b""):
        request = json.loads(line)
        pid = _forked(lambda request=request: _command(request), answers)
        _, status = os.waitpid(pid, 0)
        os.write(answers, b"%d\n" % os.waitstatus_to_exitcode(status))


def _command(request: Mapping[str, Any]) -> int:
    os.setsid()
    os.chdir(request["folder"])
    _replace_environment(request["environment"])
    _redirect(0, os.devnull)
    _redirect(1, request["output"])
    _redirect(2, request["errors"])
    launch.start_group = _start_forked
    return cli.main(request["words"])


class _Process:
    """A fork, with what verify uses of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            ended, status = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif end is not None and time.monotonic() >= end:
                raise subprocess.TimeoutExpired("fork", timeout or 0.0)
            else:
                time.sleep(0.005)
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def _start_forked(
    arguments: Sequence[str], *, env: Mapping[str, str], cwd: str | None, stdout: Any, **options: Any
) -> Any:
    perturbation = json.loads(arguments[2])["header"]["perturbation"]
    if _at_the_start(env) != _at_the_start(_ENVIRONMENT) or perturbation in _OF_LOADERS:
        return _start_group(arguments, env=env, cwd=cwd, stdout=stdout, **options)

    def run() -> int:
        os.setsid()
        if cwd is not None:
            os.chdir(cwd)
        _replace_environment(env)
        for stream in (1, 2):
            os.dup2(stdout.fileno(), stream)
        _as_a_new_process(cwd or os.getcwd())
        sys.argv = list(arguments[1:])
        sys.path.insert(0, str(Path(arguments[1]).parent))
        child.main()
        return 0

    process = _Process(_forked(run))
    group_started(process.pid)
    return process


def _at_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_READ_AT_THE_START)}


def _replace_environment(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def _as_a_new_process(folder: str) -> None:
    """What a fork has from its parent, and a new process has not."""
    import multiprocessing.process

    import numpy as np
    import torch

    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    multiprocessing.process.ORIGINAL_DIR = folder  # type: ignore[attr-defined]
    # Both start from the operating system's entropy.
    np.random.seed()
    torch.default_generator.seed()


def _forked(run: Callable[[], int], *closed: int) -> int:
    """A fork that runs this, and ends as Python does but for taking apart what was imported."""
    if (pid := os.fork()) == 0:
        for descriptor in closed:
            os.close(descriptor)
        atexit._clear()
        _threads_queues.clear()  # of pools, whose threads the fork has not
        guard._guard, guard._lock = None, threading.Lock()  # the fork tells a guard of its own what it starts
        _end(run)
    return pid


def _end(run: Callable[[], int]) -> NoReturn:
    status = 1
    try:
        status = _status(run)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        # Whatever happens, the fork does not go on as its parent.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()
        _exit(status & 0xFF)


def _status(run: Callable[[], int]) -> int:
    try:
        return run()
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def _redirect(descriptor: int, path: str) -> None:
    opened = os.open(path, os.O_RDWR | os.O_CREAT)
    os.dup2(opened, descriptor)
    os.close(opened)


if __name__ == "__main__":
    main()
