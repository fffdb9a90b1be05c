"""The instruments inside the watched process: they see batches, sampler draws, warnings and switches.

They change nothing, except the one thing that a run is asked to vary.

Hooks are put in when the program itself imports a module, so that a program which sets environment variables before
`import torch` is seen as it is. Worker processes inherit the hooks under fork, or have none under spawn; only the
process that made the observer writes.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import random
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, TextIO

from torchrepro_lint.verify.after_import import AfterImport
from torchrepro_lint.verify.hashing import digest, shown
from torchrepro_lint.verify.loader_watch import LoaderWatch, Pass

SEED_SHIFT = 1


class Observer:
    """Writes events to a file, one JSON object a line, unbuffered: a fork must not inherit half a line."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._owner = os.getpid()

    @property
    def watching(self) -> bool:
        """Whether this process is the one that is watched, and not a child of it."""
        return os.getpid() == self._owner

    def write(self, kind: str, **values: object) -> None:
        """Add one event."""
        if self.watching:
            os.write(self._file, json.dumps({"kind": kind, **values}).encode() + b"\n")


def install(observer: Observer, perturb: str | None) -> None:
    """Put the instruments in place. `perturb` is the one thing that is varied: a seeding function, or `determinism`."""
    hooks: dict[str, Callable[[ModuleType], None]] = {
        "torch.utils.data.dataloader": functools.partial(_watch_loaders, observer),
    }
    if perturb == "random.seed":
        _shift(observer, random, "seed")
    elif perturb == "np.random.seed":
        hooks["numpy.random"] = lambda module: _shift(observer, module, "seed")
    elif perturb == "torch.manual_seed":
        hooks["torch"] = lambda module: _shift(observer, module, "manual_seed", module.random)
    elif perturb == "determinism":
        hooks["torch"] = _ask_for_alerts
    sys.meta_path.insert(0, AfterImport(hooks))
    _watch_warnings(observer)


def switches() -> dict[str, bool]:
    """How the determinism switches stand now; empty where torch was never imported."""
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    cudnn = torch.backends.cudnn
    values = {
        f"torch.backends.cudnn.{name}": getattr(cudnn, name) for name in ("benchmark", "deterministic", "enabled")
    }
    for name in ("are_deterministic_algorithms_enabled", "is_deterministic_algorithms_warn_only_enabled"):
        query = getattr(torch, name, None)
        # A program that assigns over the switch itself is one of the faults to be seen.
        if callable(query):
            values[f"torch.{name}()"] = query()
    return {name: value for name, value in values.items() if isinstance(value, bool)}


def environment() -> dict[str, str]:
    """What the run ran on, as far as it is known without importing anything."""
    values = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("torch", "numpy"):
        if (module := sys.modules.get(name)) is not None:
            values[name] = str(getattr(module, "__version__", "unknown"))
    return values


def _shift(observer: Observer, module: Any, name: str, *aliases: Any) -> None:
    """Make a seeding function of the main process use the next seed."""
    original = getattr(module, name)

    @functools.wraps(original)
    def seed(*args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else next(iter(kwargs.values()), None)
        if isinstance(given, int) and observer.watching:
            observer.write("shifted-seed", seeder=name)
            if args:
                args = (given + SEED_SHIFT, *args[1:])
            else:
                kwargs[next(iter(kwargs))] = given + SEED_SHIFT
        return original(*args, **kwargs)

    for holder in (module, *aliases):
        setattr(holder, name, seed)


def _ask_for_alerts(torch: Any) -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Filled memory would change what the program computes; here only the alerts are wanted.
    if hasattr(torch.utils, "deterministic"):
        torch.utils.deterministic.fill_uninitialized_memory = False


def _watch_warnings(observer: Observer) -> None:
    show = warnings.showwarning

    def showwarning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        observer.write("warning", category=category.__name__, text=str(message))
        show(message, category, filename, lineno, file, line)

    warnings.showwarning = showwarning


def _watch_loaders(observer: Observer, dataloader: Any) -> None:
    def begins(one: Pass, loader: Any) -> None:
        if one.epoch == 0 and loader.num_workers > 0:
            # Said before they start: a dataset that cannot be pickled ends the program there.
            context = loader.multiprocessing_context or dataloader.torch.multiprocessing
            observer.write("workers", start_method=context.get_start_method())

    def asks(one: Pass, indices: Any) -> None:
        observer.write("indices", loader=one.loader, epoch=one.epoch, indices=repr(indices))

    def delivers(one: Pass, indices: Any, batch: Any) -> None:
        observer.write(
            "batch",
            loader=one.loader,
            epoch=one.epoch,
            position=one.position,
            worker=one.worker,
            digest=digest(batch),
            value=shown(batch),
        )

    LoaderWatch(delivers, begins, asks).watch(dataloader)
