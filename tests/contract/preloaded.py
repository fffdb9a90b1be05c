"""A process that has imported torch and runs programs in forks of itself: `python preloaded.py`.

A request is a line of JSON on standard input, a list of runs that are made in turn in one fork, each from new random
states and with the program's modules imported anew. The number of runs that succeeded is the line that comes back: the
first that fails ends the fork.

Ranks that a program spawns are forks with random states of their own, as spawned processes have them, and scikit-learn
is a module that draws as it does: from NumPy's global generator if there is no `random_state`.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import sys
import traceback
import types
from typing import Any

SECONDS = 120
_listed = os.listdir


def main() -> None:
    """Serve until the requests end."""
    import numpy as np
    import torch.multiprocessing
    import torch.utils.data

    torch.set_num_threads(1)
    torch.multiprocessing.spawn = _spawn
    sys.modules.update(_scikit_learn(np))
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    gc.collect()
    gc.freeze()
    for line in iter(requests.readline, b""):
        if (pid := os.fork()) == 0:
            os._exit(_succeeded(json.loads(line)))
        _, status = os.waitpid(pid, 0)
        os.write(answers, b"%d\n" % max(os.waitstatus_to_exitcode(status), 0))


def _succeeded(runs: list[dict[str, Any]]) -> int:
    """How many of the runs succeed, up to the first that does not."""
    signal.alarm(SECONDS)
    imported = set(sys.modules)
    for count, run in enumerate(runs):
        for name in sys.modules.keys() - imported:
            # A namespace package has no file.
            if runs[0]["root"] in repr(sys.modules[name]):
                del sys.modules[name]
        if not _succeeds(run):
            return count
    return len(runs)


def _succeeds(run: dict[str, Any]) -> bool:
    output = os.open(run["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor, opened in ((0, os.open(os.devnull, os.O_RDONLY)), (1, output), (2, output)):
        os.dup2(opened, descriptor)
    os.chdir(run["folder"])
    os.environ.update(run["variables"])
    os.listdir = lambda *folder: sorted(_listed(*folder), reverse=run["reverse_listings"])
    _fresh_random_states()
    first, *rest = run["start"]
    sys.argv = [first, *run["arguments"]]
    sys.path[0] = run["folder"]
    try:
        if first == "-m":
            sys.argv = [*rest, *run["arguments"]]
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif first.endswith(".ipynb"):
            _notebook(first)
        else:
            runpy.run_path(first, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        return False
    finally:
        sys.stdout.flush()
    return True


def _notebook(path: str) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    for cell in cells:
        exec(compile("".join(cell["source"]), path, "exec"), names)


def _fresh_random_states() -> None:
    """What starts from the operating system's entropy in a process that was not forked."""
    import random

    import numpy as np
    import torch

    random.seed()
    np.random.seed()
    torch.default_generator.seed()


def _spawn(function: Any, args: tuple[object, ...] = (), nprocs: int = 1) -> None:
    import torch.multiprocessing

    torch.multiprocessing.start_processes(_rank, (function, args), nprocs=nprocs, start_method="fork")


def _rank(rank: int, function: Any, args: tuple[object, ...]) -> None:
    _fresh_random_states()
    function(rank, *args)


def _scikit_learn(np: Any) -> dict[str, types.ModuleType]:
    def train_test_split(items: Any, *, test_size: int, random_state: int | None = None) -> list[Any]:
        draws = np.random if random_state is None else np.random.RandomState(random_state)
        order = draws.permutation(len(items))
        return [[items[place] for place in part] for part in (order[test_size:], order[:test_size])]

    package, module = types.ModuleType("sklearn"), types.ModuleType("sklearn.model_selection")
    module.train_test_split = train_test_split  # type: ignore[attr-defined]
    package.model_selection = module  # type: ignore[attr-defined]
    return {"sklearn": package, "sklearn.model_selection": module}


if __name__ == "__main__":
    main()
