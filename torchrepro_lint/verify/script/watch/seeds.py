"""Calls that seed an RNG, and the values that they seed with."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from torchrepro_lint.verify.script.watch.recorder import Recorder
from torchrepro_lint.verify.script.watch.threads import Nesting

_WIDEST = 60
_FROM_SYSTEM = "from the operating system"


class SeedWatch:
    """Wraps the functions that seed. One that calls another is told once, as the outer one."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._nesting = Nesting()

    def watch_method(self, owner: Any, prefix: str, name: str) -> None:
        """Wrap a method that seeds the object that it is called on."""
        setattr(owner, name, self._wrapped(getattr(owner, name), f"{prefix}.{name}", skip=1))

    def watch(self, module: Any, prefix: str, *names: str, also: Any = None) -> None:
        """Wrap these functions of a module; `also` is a second module that has them."""
        for name in names:
            original = getattr(module, name, None)
            if callable(original):
                wrapper = self._wrapped(original, f"{prefix}.{name}")
                for holder in (module, also):
                    if holder is not None and getattr(holder, name, None) is original:
                        setattr(holder, name, wrapper)

    def _wrapped(self, original: Any, name: str, skip: int = 0) -> Any:
        @functools.wraps(original)
        def seed(*args: Any, **kwargs: Any) -> Any:
            if self._nesting.inside:
                return original(*args, **kwargs)
            self._nesting.inside = True
            try:
                result = original(*args, **kwargs)
            finally:
                self._nesting.inside = False
            given = [value for value in args[skip:] if value is not None]
            given += [value for value in kwargs.values() if value is not None]
            value = repr(given[0]) if given else _FROM_SYSTEM
            # `torch.seed()` gives what it took from the operating system.
            if not given and isinstance(result, int):
                value = f"{_FROM_SYSTEM}: {result}"
            self._recorder.record(
                "seed", name, output=_hash(value), shown=value[:_WIDEST], detail={} if given else {"entropy": True}
            )
            return result

        if skip:
            return seed
        # A bound method has the name of its class's function; pickle looks for a function under its own.
        seed.__qualname__ = seed.__name__ = original.__name__
        seed.__module__ = name.rpartition(".")[0]
        return seed


def watch_random(watch: SeedWatch, random: Any) -> None:
    """Watch Python's `random`."""
    watch.watch(random, "random", "seed")
    # Every other `Random` is seeded when it is made.
    watch.watch_method(random.Random, "random.Random", "seed")


def watch_numpy(watch: SeedWatch, numpy_random: Any) -> None:
    """Watch `numpy.random`."""
    watch.watch(numpy_random, "numpy.random", "seed", "default_rng")


def watch_torch(watch: SeedWatch, torch: Any) -> None:
    """Watch torch's seeding functions."""
    watch.watch(torch, "torch", "manual_seed", "seed", also=torch.random)
    watch.watch(torch.cuda, "torch.cuda", "manual_seed", "manual_seed_all", "seed", "seed_all", also=torch.cuda.random)


def _hash(value: str) -> str:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
