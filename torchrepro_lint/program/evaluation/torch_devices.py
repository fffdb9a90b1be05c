"""What devices of torch are made of: the text in `torch.device("cuda:0")` and in `torch.device(type="cuda")`."""

from __future__ import annotations

from torchrepro_lint.program.evaluation.values import ExternalObject, Value, Values

__all__ = ["device_name"]


def device_name(value: Value) -> Values:
    """What gives a `torch.device` its name; nothing for other values, or where it has none of its own."""
    if not isinstance(value, ExternalObject) or value.name != "torch.device" or value.arguments is None:
        return frozenset()
    if value.arguments.positional:
        return value.arguments.positional[0]
    given = value.arguments.keyword("type") or value.arguments.keyword("device")
    return given[0] if given is not None else frozenset()
