"""A content hash that is sensitive to order, dtype and shape. Runs in the watched process."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torchrepro_lint.verify.tensor_sums import DeviceSums, NoContent, note_memory, tensor_sums

SMALL = 8  # numbers in a batch that is still shown as itself
_GROUP = 1 << 22  # numbers that are laid end to end at a time
_PLAIN = (bool, int, float, complex, str)
_TORCH_NAMES = ("dtype", "device", "layout", "memory_format", "Size")


class Unhashable(TypeError):
    """A value whose content cannot be read, such as an open file."""


class Content:
    """What a value holds: bytes, and sums that a device may still be computing. `digest` waits for those."""

    __slots__ = ("_parts",)

    def __init__(self, value: Any) -> None:
        """Raises Unhashable where some part of the value has no content that could be read."""
        self._parts: list[bytes | DeviceSums] = []
        try:
            self._feed(value)
        except RecursionError:
            raise Unhashable("nested too deep") from None

    @classmethod
    def of_tensors(cls, tensors: Sequence[Any]) -> Content:
        """The content of many strided tensors. They are laid end to end first: one pass costs less than many."""
        content = cls([(str(tensor.dtype), tuple(tensor.shape)) for tensor in tensors])
        for group in _groups(tensors):
            content._feed_tensor(group[0] if len(group) == 1 else _end_to_end(group))
        return content

    @property
    def is_ready(self) -> bool:
        """Whether nothing of it is on a device: its digest can be had at once."""
        return not any(isinstance(part, DeviceSums) for part in self._parts)

    def digest(self) -> str:
        """The hash as 32 hexadecimal digits."""
        sink = hashlib.blake2b(digest_size=16)
        for part in self._parts:
            sink.update(part.wait() if isinstance(part, DeviceSums) else part)
        return sink.hexdigest()

    def _feed(self, value: Any) -> None:
        # Every value starts with its kind and, where it has parts, their number: [1, 2] and [[1], 2] must not meet.
        if value is None or isinstance(value, _PLAIN):
            self._header(type(value).__name__, repr(value))
        elif isinstance(value, (bytes, bytearray)):
            self._header("bytes", str(len(value)))
            self._parts.append(bytes(value))
        elif isinstance(value, Mapping):
            self._header("mapping", str(len(value)))
            for key, item in value.items():
                self._feed(key)
                self._feed(item)
        elif isinstance(value, (list, tuple)):
            self._header("sequence", str(len(value)))
            for item in value:
                self._feed(item)
        elif isinstance(value, os.PathLike):
            self._header("path", repr(os.fspath(value)))
        elif hasattr(value, "detach") and hasattr(value, "numpy"):
            self._feed_tensor(value)
        elif hasattr(value, "dtype") and hasattr(value, "tobytes"):
            if value.dtype.hasobject:
                raise Unhashable(type(value).__name__)
            self._header("array", f"{value.dtype} {getattr(value, 'shape', ())}")
            self._parts.append(value.tobytes())
        elif type(value).__module__ == "torch" and type(value).__name__ in _TORCH_NAMES:
            self._header(type(value).__name__, str(value))
        elif getattr(value, "__dict__", None) and not callable(value):
            # A batch class of the program's own: what it holds is what it is. Where it holds nothing, nothing is known.
            self._header("object", type(value).__qualname__)
            self._feed(vars(value))
        else:
            raise Unhashable(type(value).__name__)

    def _feed_tensor(self, tensor: Any) -> None:
        plain = tensor.detach()
        if plain.is_nested:
            # It has no shape of its own.
            self._header("nested", f"{plain.dtype} {plain.layout}")
            self._feed(plain.unbind())
            return
        self._header("tensor", f"{tensor.dtype} {tuple(tensor.shape)} {tensor.layout}")
        if plain.is_sparse:
            plain = plain.coalesce()
            self._feed([plain.indices(), plain.values()])
            return
        if plain.is_quantized:
            self._feed([*_quantization(plain), plain.int_repr()])
            return
        if type(plain).__name__ == "DTensor":
            plain = plain.to_local()
        if str(plain.layout) != "torch.strided":
            plain = plain.to_dense()
        try:
            if (once := _once(plain)) is not plain:
                self._header("repeats", str(tuple(once.shape)))
            self._parts.append(tensor_sums(once))
        except NoContent as error:
            raise Unhashable(str(error)) from None

    def _header(self, kind: str, text: str) -> None:
        self._parts.append(f"{kind}({len(text)}:{text})".encode("utf-8", "surrogatepass"))


def _quantization(tensor: Any) -> list[Any]:
    """What the numbers of a quantized tensor stand for."""
    scheme = str(tensor.qscheme())
    if "per_tensor" in scheme:
        return [scheme, tensor.q_scale(), tensor.q_zero_point()]
    axis = tensor.q_per_channel_axis()
    return [scheme, tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points(), axis]


def _once(tensor: Any) -> Any:
    """A large tensor without what is only repeated in it: an expanded one may be larger than any memory."""
    if str(tensor.layout) != "torch.strided" or tensor.numel() <= _GROUP:
        return tensor
    for dimension, stride in enumerate(tensor.stride()):
        if stride == 0:
            tensor = tensor.narrow(dimension, 0, 1)
    return tensor


def _groups(tensors: Sequence[Any]) -> Iterator[list[Any]]:
    """Tensors that can be laid end to end, in order. Groups are small: the copy must not need much room."""
    group: list[Any] = []
    size = 0
    for tensor in tensors:
        alike = group and (tensor.dtype, tensor.device) == (group[0].dtype, group[0].device)
        if group and (not alike or size + tensor.numel() > _GROUP):
            yield group
            group, size = [], 0
        group.append(tensor)
        size += tensor.numel()
    if group:
        yield group


def _end_to_end(tensors: Sequence[Any]) -> Any:
    import torch

    joined = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    note_memory(joined, joined.numel() * joined.element_size())
    return joined


def digest(value: Any) -> str | None:
    """The hash of a batch as 32 hexadecimal digits; None where it holds something that has no readable content."""
    try:
        return Content(value).digest()
    except Unhashable:
        return None


def shown(value: Any) -> str | None:
    """The batch in a few characters, or None where it is not small, or its numbers cannot be had."""
    try:
        flat = _flatten(value)
    except Exception:  # a tensor on no device, of a kind without numbers, or of a class with a mind of its own
        return None
    return None if flat is None or len(flat) > SMALL else " ".join(_short(item) for item in flat)


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
