"""What gives a tensor: functions and classes of torch, methods and attributes of tensors."""

from __future__ import annotations

from functools import cache

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import read_toml

__all__ = ["is_tensor_attribute", "returns_tensor", "tensor_methods"]


def returns_tensor(qualname: str) -> bool:
    """Whether a call of `qualname` gives a tensor; methods are spelled `torch.Tensor.sum`.

    A call that may give a tensor or a named tuple of tensors (`torch.max`) counts; one that always gives a tuple
    or a list (`torch.sort`) does not.
    """
    return canonical(qualname) in _makers()


def is_tensor_attribute(name: str) -> bool:
    """Whether the attribute `name` of a tensor is a tensor: `T`, `data`, `grad`."""
    return name in _attributes()


@cache
def tensor_methods() -> frozenset[str]:
    """Methods of tensors that give a tensor, without the class."""
    return frozenset(read_toml("tensors.toml")["methods"])


@cache
def _attributes() -> frozenset[str]:
    return frozenset(read_toml("tensors.toml")["attributes"])


@cache
def _makers() -> frozenset[str]:
    data = read_toml("tensors.toml")
    found = {f"{module}.{name}" for module, names in data["functions"].items() for name in names}
    found.update(f"torch.{name}" for name in data["classes"])
    found.update(f"torch.Tensor.{name}" for name in data["methods"])
    return frozenset(found)
