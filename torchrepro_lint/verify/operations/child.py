"""Runs calls of the table of operations again and again in this process, and says of each what was seen.

Started by `run.py` as a process of its own: `python -m torchrepro_lint.verify.operations.child DEVICE RUNS INDEX...`.
It writes one line of JSON for each case, so that what was seen is not lost where a later case ends the process.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from torchrepro_lint.knowledge.op_cases import OpCase, op_cases

_NO_IMPLEMENTATION = "does not have a deterministic implementation"
_SEED = 0


class _Bench:
    """The helpers that a case sees, on one device; all that they make is the same in every run."""

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)
        self.generator = torch.Generator()
        self.made: list[Any] = []

    def names(self) -> dict[str, Any]:
        names: dict[str, Any] = {"torch": torch, "F": F, "nn": nn, "device": self.device, "rand": self.rand}
        return names | {"data": self.data, "index": self.index, "on": self.on, "attend": self.attend}

    def data(self, *shape: int) -> Any:
        return torch.randn(*shape, generator=self.generator).to(self.device)

    def rand(self, *shape: int) -> Any:
        made = self.data(*shape).requires_grad_()
        self.made.append(made)
        return made

    def index(self, high: int, *shape: int) -> Any:
        return torch.randint(high, shape, generator=self.generator).to(self.device)

    def on(self, module: Any) -> Any:
        module.to(self.device)
        self.made.extend(module.parameters())
        return module

    def attend(self, backend: str, dtype: Any) -> Any:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        q, k, v = (self.data(2, 4, 1024, 64).to(dtype).requires_grad_() for _ in range(3))
        self.made += [q, k, v]
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return F.scaled_dot_product_attention(q, k, v)


def run_once(case: OpCase, device: str) -> tuple[str, str]:
    """What one run gives, forward and backward: digests of all bits. RuntimeError where torch raises it."""
    bench = _Bench(device)
    bench.generator.manual_seed(_SEED)
    torch.manual_seed(_SEED)
    names = bench.names()
    if case.package:
        importlib.import_module(case.package)
        package = case.package.partition(".")[0]
        names[package] = sys.modules[package]
    exec(case.inputs, names)
    bench.made.extend(value for value in names.values() if _is_leaf(value))
    results = list(_tensors(eval(case.call, names)))
    forward = _digest(results)
    wanted = [one for one in results if one.requires_grad]
    if wanted:
        torch.autograd.backward(wanted, [_like(one, bench.generator) for one in wanted])
    return forward, _digest([one.grad for one in _unique(bench.made) if one.grad is not None])


def _is_leaf(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad


def _unique(tensors: list[Any]) -> list[Any]:
    return list({id(one): one for one in tensors}.values())


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)


def _like(tensor: Any, generator: Any) -> Any:
    """A gradient for a result: no two of its elements alike, so that the order in which they are added shows."""
    drawn = torch.randn(tensor.shape, generator=generator, dtype=torch.float32)
    return drawn.to(tensor.device, tensor.dtype)


def _digest(tensors: list[Any]) -> str:
    seen = hashlib.blake2b(digest_size=16)
    for tensor in tensors:
        one = tensor.detach()
        if one.is_quantized:
            one = one.int_repr()
        if one.is_complex():
            one = torch.view_as_real(one)
        one = one.to_dense() if one.is_sparse else one
        raw = one.contiguous().cpu().view(torch.uint8) if one.numel() and one.dim() else one.reshape(-1).cpu()
        seen.update(raw.numpy().tobytes())
    return seen.hexdigest()


# --- contention ---------------------------------------------------------------------------------------------------


@contextmanager
def contention(device: str) -> Iterator[Callable[[], None]]:
    """Other work beside the runs, so that blocks and threads finish in another order each time. What it gives dirties
    memory that a run may get after it.
    """
    stop = threading.Event()
    other = threading.Thread(target=_work, args=(device, stop), daemon=True)
    other.start()
    try:
        yield lambda: _dirty(device)
    finally:
        stop.set()
        other.join()


def _work(device: str, stop: threading.Event) -> None:
    # On CUDA a stream of its own: the kernels of the runs share the multiprocessors with these.
    stream = torch.cuda.Stream() if device == "cuda" else None  # type: ignore[no-untyped-call]
    size = 1024 if device == "cuda" else 128
    with torch.cuda.stream(stream):
        matrix = torch.eye(size, device=device)
        while not stop.is_set():
            for _ in range(20):
                matrix = (matrix @ matrix).softmax(0)
            if stream is not None:
                stream.synchronize()


def _dirty(device: str) -> None:
    """Leaves numbers behind in freed memory that no seed decides."""
    noise = torch.Generator(device)  # noqa: TRL203 (other contents each time are what it is for)
    noise.seed()
    for size in (1, 100, 600, 5000, 20000):
        torch.rand(size, device=device, generator=noise).mul_(1e6)


# --- one case -----------------------------------------------------------------------------------------------------


def observe(case: OpCase, device: str, runs: int) -> dict[str, Any]:
    """What is seen of a case: the alert that the strict mode raises, how many different results `runs` runs gave,
    forward and backward, with the mode off and, where it does not raise, on; `refuses` with the text of another error
    that the mode leads to; `trouble` where nothing could be run.
    """
    seen: dict[str, Any] = {}
    with contention(device) as dirty:
        torch.use_deterministic_algorithms(False)
        try:
            seen["off"] = _different(case, device, runs, dirty)
        except Exception as error:
            return {"trouble": f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"}
        torch.use_deterministic_algorithms(True)
        try:
            seen["on"] = _different(case, device, runs, dirty)
        except (RuntimeError, NotImplementedError) as error:
            text = str(error).strip().partition("\n")[0]
            name, alert, _ = text.partition(f" {_NO_IMPLEMENTATION}")
            seen["raises" if alert else "refuses"] = name
        finally:
            torch.use_deterministic_algorithms(False)
    return seen


def _different(case: OpCase, device: str, runs: int, dirty: Callable[[], None]) -> list[int]:
    forward: set[str] = set()
    backward: set[str] = set()
    for _ in range(runs):
        dirty()
        one, other = run_once(case, device)
        forward.add(one)
        backward.add(other)
    return [len(forward), len(backward)]


def main(arguments: list[str]) -> None:
    device, runs, *indices = arguments
    warnings.simplefilter("ignore")
    print(json.dumps(_about(device)), flush=True)
    for index in indices:
        seen = observe(op_cases()[int(index)], device, int(runs))
        print(json.dumps(seen), flush=True)


def _about(device: str) -> dict[str, Any]:
    import platform

    name = torch.cuda.get_device_name() if device == "cuda" else f"CPU {platform.machine()}"
    return {"device": name, "torch": torch.__version__.partition("+")[0], "cuda": torch.version.cuda or ""}


if __name__ == "__main__":
    main(sys.argv[1:])
