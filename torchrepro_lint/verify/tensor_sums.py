"""What a tensor holds, as a few 64-bit sums: sensitive to position, computed where the tensor is, the same everywhere.

The bytes are read as 64-bit words w_i. Each chunk of words gives two sums modulo 2**64 with fixed pseudo-random odd
factors, sum(w_i * a_i) and sum((w_i >> 32) * b_i). One sum is not enough: a change of the highest bit of a word, such
as the sign of a float64, changes a product by 2**63 whatever the factor, so two of them would cancel. In the second
sum the upper half of a word stands low, where every bit meets most of the factor (multilinear hashing: Lemire and
Kaser, "Strongly universal string hashing is fast", 2014). Sums of integers do not depend on the order of adding, so a
GPU may add as it likes.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

CHUNK = 1 << 17  # words of a chunk: a table of factors is 1 MiB and stays in a processor's cache
_AT_ONCE = 64  # chunks that a device multiplies at a time: 128 MiB of room for what it multiplies and the products
_WORD = 8


# The most memory that a hash has taken at a time beside what is hashed: bytes, by device.
memory_taken: dict[str, int] = {}


class NoContent(TypeError):
    """A tensor whose memory cannot be read: of a layout or a device that holds none."""


class DeviceSums:
    """Sums that a device may still be computing."""

    __slots__ = ("_computed", "_sums")

    def __init__(self, sums: Any) -> None:
        self._sums = sums
        self._computed = None
        if sums.is_cuda:
            self._computed = _torch().cuda.Event()
            self._computed.record(_torch().cuda.current_stream(sums.device))

    def wait(self) -> bytes:
        """The sums as bytes, the same as for a tensor in memory. Waits for them, and not for what was queued later."""
        if self._computed is None:
            return device_bytes(self._sums)
        # On a stream of its own: a copy on the program's stream would wait for all that the program has queued there.
        side = _side_stream(self._sums.device.index)
        with _torch().cuda.stream(side):
            side.wait_event(self._computed)
            self._sums.record_stream(side)
            return device_bytes(self._sums)


def tensor_sums(tensor: Any) -> bytes | DeviceSums:
    """The sums of a strided tensor: bytes where it is in the computer's memory.

    Raises:
        NoContent: the tensor holds no data that could be read.
    """
    if tensor.layout != _torch().strided or tensor.is_meta:
        raise NoContent(f"{tensor.layout} on {tensor.device}")
    given = plain = tensor.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    plain = plain.contiguous().reshape(-1)
    # One element may have any stride, but only with this one can it be seen as bytes.
    plain = plain.as_strided(plain.shape, (1,)).view(_torch().uint8)
    note_memory(plain, len(plain) if plain.data_ptr() != given.data_ptr() else 0)
    return _in_memory(plain.numpy()) if plain.device.type == "cpu" else DeviceSums(on_device(plain))


def note_memory(tensor: Any, more: int) -> None:
    """Count what the sums of a contiguous tensor need, with `more` bytes of copies that were made for them."""
    device, chunk = str(tensor.device), CHUNK * _WORD
    # In memory the upper halves of one chunk; on a device those of a block, and their products.
    size = tensor.numel() * tensor.element_size()
    needed = min(size, chunk) if device == "cpu" else 2 * min(size, _AT_ONCE * chunk)
    memory_taken[device] = max(memory_taken.get(device, 0), needed + more)


def device_bytes(sums: Any) -> bytes:
    """The bytes of a tensor of sums."""
    return bytes(sums.cpu().numpy().astype("<i8").tobytes())


def _in_memory(data: Any) -> bytes:
    import numpy as np

    first, second = _factors()
    whole = len(data) // _WORD
    words = np.frombuffer(data.data, np.int64, whole) if whole else np.empty(0, np.int64)
    sums: list[Any] = []
    for start in range(0, whole, CHUNK):
        chunk = words[start : start + CHUNK]
        sums += (np.dot(chunk, first[: len(chunk)]), np.dot(chunk >> 32, second[: len(chunk)]))
    if rest := bytes(data[whole * _WORD :]):
        sums.append(int.from_bytes(rest, sys.byteorder))
    return np.array(sums, "<i8").tobytes()


def on_device(data: Any) -> Any:
    """The sums of a flat tensor of bytes, with the means of its device only: nothing is copied from it."""
    import torch

    whole = data.numel() // _WORD
    sums = []
    if whole:
        words = data[: whole * _WORD]
        # A view as words must begin where a word may.
        words = (words if words.storage_offset() % _WORD == 0 else words.clone()).view(torch.int64)
        first, second = _device_factors(str(data.device))
        full = whole // CHUNK * CHUNK
        blocks = [block.view(-1, CHUNK) for block in words[:full].split(_AT_ONCE * CHUNK)] if full else []
        if whole > full:
            blocks.append(words[full:].view(1, -1))
        for block in blocks:
            size = block.shape[1]
            pair = ((block * first[:size]).sum(1), ((block >> 32) * second[:size]).sum(1))
            sums.append(torch.stack(pair, 1).view(-1))
    if rest := data.numel() - whole * _WORD:
        weights = [
            1 << 8 * (position if sys.byteorder == "little" else rest - 1 - position) for position in range(rest)
        ]
        sums.append((data[whole * _WORD :] * torch.tensor(weights, device=data.device)).sum().view(1))
    return torch.cat(sums) if sums else torch.empty(0, dtype=torch.int64, device=data.device)


@functools.cache
def _torch() -> Any:
    import torch

    return torch


@functools.cache
def _side_stream(device: int) -> Any:
    return _torch().cuda.Stream(device)


@functools.cache
def _factors() -> tuple[Any, Any]:
    """Two tables of odd 64-bit numbers: splitmix64 of the numbers from 0 on."""
    import numpy as np

    mixed = np.arange(1, 2 * CHUNK + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    odd = (mixed | np.uint64(1)).view(np.int64)
    return odd[:CHUNK], odd[CHUNK:]


@functools.cache
def _device_factors(device: str) -> tuple[Any, Any]:
    import torch

    first, second = (torch.from_numpy(table).to(device) for table in _factors())
    return first, second
