"""What runs only where there is a GPU, with something else in the place of CUDA: no GPU is needed, and none is shown."""

from __future__ import annotations

import contextlib
import threading
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torchrepro_lint.verify import tensor_sums  # noqa: E402
from torchrepro_lint.verify.hashing import Content, digest  # noqa: E402
from torchrepro_lint.verify.script.watch import contention, operations, states  # noqa: E402
from torchrepro_lint.verify.script.watch.contention import Contention  # noqa: E402


class Cuda:
    """Stands for `torch.cuda`, and writes down what streams do."""

    def __init__(self, *, initialized: bool = True) -> None:
        self.initialized = initialized
        self.told: list[str] = []
        self.busy = threading.Event()

    def is_initialized(self) -> bool:
        return self.initialized

    def device_count(self) -> int:
        return 1

    def device(self, index: int) -> Any:
        return contextlib.nullcontext()

    def Stream(self, device: int) -> Any:
        return SimpleNamespace(wait_event=lambda event: self.told.append("side waits"))

    @contextlib.contextmanager
    def stream(self, stream: Any) -> Any:
        self.told.append("enter")
        yield
        self.told.append("leave")

    def Event(self) -> Any:
        return SimpleNamespace(record=lambda stream: self.told.append("computed"))

    def current_stream(self, device: Any = None) -> Any:
        return SimpleNamespace(synchronize=self.busy.set)


def with_cuda(cuda: Cuda, **more: Any) -> Any:
    """torch, with another `cuda`, whose tensors are in memory."""

    def in_memory(make: Any) -> Any:
        return lambda *sizes, device, **options: make(*sizes, **options)

    made = {name: in_memory(getattr(torch, name)) for name in ("rand", "randint", "zeros")}
    made["Generator"] = lambda device: torch.Generator()
    return SimpleNamespace(cuda=cuda, no_grad=torch.no_grad, **{**made, **more})


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contention, "_SIDE", 4)
    monkeypatch.setattr(contention, "_COLLIDING", 16)


def test_a_gpu_is_kept_busy_until_the_end() -> None:
    cuda, told = Cuda(initialized=False), list[str]()
    before = torch.get_rng_state()
    busy = Contention(with_cuda(cuda), told.append)
    busy.follow()
    assert not cuda.told  # the program has not used it yet
    cuda.initialized = True
    busy.follow()
    assert cuda.busy.wait(60)
    names = [thread.name for thread in threading.enumerate()]
    busy.follow()
    assert [thread.name for thread in threading.enumerate()] == names and "contention on cuda:0" in names
    busy.end()
    assert "contention on cuda:0" not in [thread.name for thread in threading.enumerate()]
    assert cuda.told == ["enter", "leave"] and told == []
    assert torch.equal(torch.get_rng_state(), before)


def test_a_script_that_does_not_use_cuda_is_said_not_to() -> None:
    told: list[str] = []
    busy = Contention(with_cuda(Cuda(initialized=False)), told.append)
    busy.follow()
    busy.end()
    assert told == ["the script has not used CUDA, so there was nothing to disturb"]


def test_a_gpu_that_cannot_be_kept_busy_is_said() -> None:
    def full(*sizes: int, **options: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    told: list[str] = []
    busy = Contention(with_cuda(Cuda(), rand=full), told.append)
    busy.follow()
    busy.end()
    assert told == ["cuda:0 was not kept busy to the end: OutOfMemoryError: CUDA out of memory"]


def test_sums_are_waited_for_on_a_stream_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = Cuda()
    monkeypatch.setattr(tensor_sums, "_torch", lambda: SimpleNamespace(cuda=cuda))
    tensor_sums._side_stream.cache_clear()
    values = torch.tensor([1, 2])
    on_device = SimpleNamespace(
        is_cuda=True,
        device=torch.device("cuda:0"),
        record_stream=lambda stream: cuda.told.append("kept"),
        cpu=lambda: cuda.told.append("copied") or values,
    )
    sums = tensor_sums.DeviceSums(on_device)
    assert cuda.told == ["computed"]
    assert sums.wait() == tensor_sums.device_bytes(values)
    assert cuda.told == ["computed", "enter", "side waits", "kept", "copied", "leave"]
    tensor_sums._side_stream.cache_clear()


def test_an_entry_is_held_up_by_sums_that_a_device_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    value = torch.arange(10.0)
    wanted = digest(value)
    sums = tensor_sums.DeviceSums(tensor_sums.on_device(value.view(torch.uint8)))
    content = Content(value)
    assert content.is_ready
    content._parts[-1] = sums
    assert not content.is_ready and content.digest() == wanted


@pytest.fixture
def generators(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    made = (torch.Generator().manual_seed(1), torch.Generator().manual_seed(2))
    monkeypatch.setattr(torch.cuda, "default_generators", made)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    return made


def test_the_state_of_each_gpu_is_told(generators: Any) -> None:
    told = states.rng_states()
    assert {"torch cuda:0", "torch cuda:1"} <= set(told)
    assert told["torch cuda:0"] != told["torch cuda:1"]


@pytest.mark.parametrize(("device", "number"), [("cuda:0", 0), ("cuda:1", 1), ("cuda", 1)])
def test_a_draw_on_a_gpu_is_told_by_its_generator(generators: Any, device: str, number: int) -> None:
    watch = operations._Operations(torch, None, None)  # type: ignore[arg-type]
    drawing = watch._generator(torch.ops.aten.rand.default, ([3],), {"device": torch.device(device)})
    assert drawing is generators[number]
    assert operations._rng_name(drawing, torch) == f"torch cuda:{number}"
    own = torch.Generator()
    assert watch._generator(torch.ops.aten.rand.generator, ([3],), {"generator": own}) is own
    assert watch._generator(torch.ops.aten.sin.default, (torch.ones(1),), {}) is None
