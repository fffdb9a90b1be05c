"""The sums of a tensor: any change shows, wherever they are computed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from torchrepro_lint.verify.tensor_sums import CHUNK, NoContent, device_bytes, on_device, tensor_sums  # noqa: E402

SIZES = [0, 1, 2, 3, 7, 8, 9, 100, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16, torch.uint8, torch.bool])
def test_a_device_says_what_memory_says(size: int, dtype: Any) -> None:
    tensor = (torch.arange(size) * 2654435761 % 1000003).to(dtype)
    assert device_bytes(on_device(tensor.view(torch.uint8))) == tensor_sums(tensor)


def test_a_part_of_a_larger_tensor_says_what_a_copy_says() -> None:
    base = torch.arange(1000, dtype=torch.float32)
    for start in range(4):
        part = base[start : start + 101]
        assert tensor_sums(part) == tensor_sums(part.clone())
        assert device_bytes(on_device(part.view(torch.uint8))) == tensor_sums(part)
    pairs = base.view(500, 2)
    assert tensor_sums(pairs.t()) == tensor_sums(pairs.t().contiguous())


@settings(deadline=None)
@given(st.integers(0, 999), st.integers(0, 31))
def test_every_bit_counts(position: int, bit: int) -> None:
    tensor = torch.arange(1000, dtype=torch.int32)
    changed = tensor.clone()
    changed[position] ^= -(2**31) if bit == 31 else 1 << bit
    assert tensor_sums(tensor) != tensor_sums(changed)


@settings(deadline=None)
@given(st.lists(st.integers(0, 999), min_size=2, max_size=2, unique=True))
def test_two_signs_that_turn_do_not_cancel(positions: list[int]) -> None:
    tensor = torch.arange(1.0, 1001.0)
    changed = tensor.clone()
    changed[positions] *= -1
    assert tensor_sums(tensor) != tensor_sums(changed)
    # A word of 8 bytes has its sign where a factor has no effect at all.
    assert tensor_sums(tensor.double()) != tensor_sums(changed.double())


@settings(deadline=None)
@given(st.lists(st.integers(0, 3 * CHUNK - 1), min_size=2, max_size=2, unique=True))
def test_two_words_that_change_places_show(positions: list[int]) -> None:
    tensor = torch.arange(3 * CHUNK)
    changed = tensor.clone()
    changed[positions] = tensor[positions[::-1]]
    assert tensor_sums(tensor) != tensor_sums(changed)


def test_what_holds_nothing() -> None:
    with pytest.raises(NoContent):
        tensor_sums(torch.empty(3, device="meta"))
    with pytest.raises(NoContent):
        tensor_sums(torch.eye(3).to_sparse())


def test_watching_changes_nothing() -> None:
    tensor = torch.ones(3, requires_grad=True)
    version = tensor._version
    tensor_sums(tensor)
    assert tensor._version == version and tensor.grad_fn is None
