"""Where CUDA is first used: what comes after it is too late for settings that CUDA's libraries read when they start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.torch_devices import device_name
from torchrepro_lint.program.evaluation.values import Constant, External, Value, Values

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["first_use_before", "uses_a_gpu"]


def first_use_before(ev: Evaluator, frame: Frame, site: int) -> tree.Call | None:
    """The first call in the scope of `frame` that surely comes before `site` and uses CUDA."""
    arms = frame.scope.path_at(site)
    for call, path in sorted(frame.scope.calls, key=lambda pair: pair[0].site):
        if call.site < site and path == arms[: len(path)] and uses_a_gpu(ev, call, frame):
            return call
    return None


def uses_a_gpu(ev: Evaluator, call: tree.Call, frame: Frame, *, where_there_is_one: bool = False) -> bool:
    """Whether a call uses CUDA; `where_there_is_one`: or does if there is a GPU, and else the CPU."""
    starts = known_calls("starts_cuda")
    if any(isinstance(v, External) and canonical(v.name) in starts for v in ev.values(call.func, frame)):
        return True
    match call.func:
        case tree.Attribute(attr="cuda"):
            return not any(isinstance(value, External) for value in ev.values(call.func, frame))
        case tree.Attribute(attr="to"):
            devices = [arg.value for arg in call.args]
        case _:
            devices = [arg.value for arg in call.args if arg.keyword == "device"]
    return any(_is_cuda(ev.values(device, frame), where_there_is_one) for device in devices)


def _is_cuda(values: Values, where_there_is_one: bool) -> bool:
    """Whether a device is proven to be a GPU; `where_there_is_one`: also `"cuda" if torch.cuda.is_available() else
    "cpu"`.
    """
    names = {name for value in values for name in _devices(value)}
    return "cuda" in names and names <= ({"cuda", "cpu", "mps"} if where_there_is_one else {"cuda"})


def _devices(value: Value) -> frozenset[str | None]:
    """The types of device that a value may be, without their numbers; None for what is not known."""
    match value:
        case Constant(value=str() as text):
            return frozenset({text.partition(":")[0]})
    inner = device_name(value)
    return frozenset(name for one in inner for name in _devices(one)) if inner else frozenset({None})
