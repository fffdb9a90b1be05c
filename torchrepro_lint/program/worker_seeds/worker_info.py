"""What `torch.utils.data.get_worker_info()` returns, as a value: the worker id, its seed and its dataset."""

from __future__ import annotations

from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation.values import ExternalObject, MemberOf, Value

__all__ = ["is_of_worker_info", "is_worker_info"]


def is_worker_info(value: Value) -> bool:
    """Whether a value is what tells a worker which one it is."""
    return isinstance(value, ExternalObject) and value.name in known_calls("worker_info")


def is_of_worker_info(value: Value, attr: str) -> bool:
    """Whether a value is that attribute of it: `get_worker_info().id`."""
    return isinstance(value, MemberOf) and value.attr == attr and is_worker_info(value.receiver)
