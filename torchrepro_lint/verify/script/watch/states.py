"""The states of the random number generators, as hashes. Asking for one changes none."""

from __future__ import annotations

import array
import hashlib
import random
import sys
from typing import Any

from torchrepro_lint.verify.hashing import digest


def rng_states() -> dict[str, str | None]:
    """The state of each global RNG that the process has, by its name."""
    states: dict[str, str | None] = {"random": random_state(random._inst)}
    if (numpy := sys.modules.get("numpy.random")) is not None and hasattr(numpy, "get_state"):
        states["numpy"] = numpy_state(numpy.mtrand._rand)
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "default_generator"):
        states["torch"] = torch_state(torch.default_generator)
        if torch.cuda.is_initialized():
            for index, generator in enumerate(torch.cuda.default_generators):
                states[f"torch cuda:{index}"] = torch_state(generator)
    return states


def random_state(generator: Any) -> str | None:
    """The state of a `random.Random`; None where it has none, such as the operating system's."""
    try:
        version, words, gauss = generator.getstate()
        return _hash(array.array("Q", words).tobytes() + repr((version, gauss)).encode())
    except (NotImplementedError, TypeError, ValueError, OverflowError):
        return None


def numpy_state(generator: Any) -> str | None:
    """The state of a `RandomState` or a `Generator` of NumPy."""
    if hasattr(generator, "get_state"):
        name, key, *rest = generator.get_state()
        return _hash(bytes(key.tobytes()) + repr((name, rest)).encode())
    return digest(generator.bit_generator.state)


def torch_state(generator: Any) -> str:
    """The state of a `torch.Generator`."""
    return _hash(bytes(generator.get_state().numpy().tobytes()))


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
