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

__all__ = ["first_use_before"]


def first_use_before(ev: Evaluator, frame: Frame, site: int) -> tree.Call | None:
    """The first call in the scope of `frame` that surely comes before `site` and uses CUDA."""
    arms = frame.scope.path_at(site)
    for call, path in sorted(frame.scope.calls, key=lambda pair: pair[0].site):
        if call.site < site and path == arms[: len(path)] and _uses(ev, call, frame):
            return call
    return None


def _uses(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    starts = known_calls("starts_cuda")
    if any(isinstance(v, External) and canonical(v.name) in starts for v in ev.values(call.func, frame)):
        return True
    match call.func:
        case tree.Attribute(attr="cuda"):
            return not any(isinstance(value, External) for value in ev.values(call.func, frame))
        case tree.Attribute(attr="to"):
            return any(_is_cuda(ev.values(arg.value, frame)) for arg in call.args)
    return any(arg.keyword == "device" and _is_cuda(ev.values(arg.value, frame)) for arg in call.args)


def _is_cuda(values: Values) -> bool:
    """Whether a device is proven to be a GPU."""
    return bool(values) and all(_names_cuda(value) for value in values)


def _names_cuda(value: Value) -> bool:
    match value:
        case Constant(value=str() as text):
            return text.startswith("cuda")
    return _is_cuda(device_name(value))
