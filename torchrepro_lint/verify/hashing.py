"""A content hash that is sensitive to order, dtype and shape. Runs in the watched process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

SMALL = 8  # numbers in a batch that is still shown as itself


class _Sink(Protocol):
    def update(self, data: bytes, /) -> None: ...


class Unhashable(TypeError):
    """A value whose content cannot be read, such as an open file."""


def digest(value: Any) -> str | None:
    """The hash of a batch as 32 hexadecimal digits; None where it holds something that has no readable content."""
    sink = hashlib.blake2b(digest_size=16)
    try:
        _feed(sink, value)
    except (Unhashable, RecursionError):
        return None
    return sink.hexdigest()


def shown(value: Any) -> str | None:
    """The batch in a few characters, or None where it is not small."""
    flat = _flatten(value)
    return None if flat is None or len(flat) > SMALL else " ".join(_short(item) for item in flat)


def _feed(sink: _Sink, value: Any) -> None:
    # Every value starts with its kind and, where it has parts, their number: [1, 2] and [[1], 2] must not meet.
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        _header(sink, type(value).__name__, repr(value))
    elif isinstance(value, (bytes, bytearray)):
        _header(sink, "bytes", str(len(value)))
        sink.update(bytes(value))
    elif isinstance(value, Mapping):
        _header(sink, "mapping", str(len(value)))
        for key, item in value.items():
            _feed(sink, key)
            _feed(sink, item)
    elif isinstance(value, (list, tuple)):
        _header(sink, "sequence", str(len(value)))
        for item in value:
            _feed(sink, item)
    elif hasattr(value, "detach") and hasattr(value, "numpy"):
        _feed_tensor(sink, value)
    elif hasattr(value, "dtype") and hasattr(value, "tobytes"):
        if value.dtype.hasobject:
            raise Unhashable(type(value).__name__)
        _header(sink, "array", f"{value.dtype} {getattr(value, 'shape', ())}")
        sink.update(value.tobytes())
    elif getattr(value, "__dict__", None) and not callable(value):
        # A batch class of the program's own: what it holds is what it is. Where it holds nothing, nothing is known.
        _header(sink, "object", type(value).__qualname__)
        _feed(sink, vars(value))
    else:
        raise Unhashable(type(value).__name__)


def _feed_tensor(sink: _Sink, tensor: Any) -> None:
    import torch

    plain = tensor.detach()
    if plain.layout != torch.strided:
        plain = plain.to_dense()
    plain = plain.cpu().resolve_conj().resolve_neg().contiguous()
    _header(sink, "tensor", f"{tensor.dtype} {tuple(tensor.shape)} {tensor.layout}")
    # Through bytes, because numpy has no bfloat16.
    sink.update(plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b"")


def _header(sink: _Sink, kind: str, text: str) -> None:
    sink.update(f"{kind}({len(text)}:{text})".encode("utf-8", "surrogatepass"))


def _flatten(value: Any) -> list[Any] | None:
    """The numbers and strings of a small batch in order; None for what is large or neither."""
    if isinstance(value, (bool, int, float, str)):
        return [value]
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        size = value.numel() if hasattr(value, "numel") else value.size
        return None if size > SMALL else _flatten(value.tolist())
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, (list, tuple)) or len(value) > SMALL:
        return None
    parts = [_flatten(item) for item in value]
    return None if any(part is None for part in parts) else [item for part in parts if part for item in part]


def _short(item: object) -> str:
    return f"{item:.6g}" if isinstance(item, float) else str(item)[:24]
