"""The content hash: equal for equal content, different for any difference in order, dtype or shape."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.verify.hashing import SMALL, digest, shown

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

Point = namedtuple("Point", "x y")


class Sample:
    def __init__(self, image: Any) -> None:
        self.image = image


class Nothing:
    pass


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


DIFFERENT: list[Any] = [
    None,
    0,
    False,
    0.0,
    -0.0,
    "",
    "0",
    b"",
    [],
    [[]],
    [1, 2],
    [2, 1],
    [[1], 2],
    [1, [2]],
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    torch.tensor([1, 2]),
    torch.tensor([2, 1]),
    torch.tensor([[1, 2]]),
    torch.tensor([[1], [2]]),
    torch.tensor([1, 2], dtype=torch.int32),
    torch.tensor([1.0, 2.0]),
    torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
    torch.tensor([1.0, 2.0], dtype=torch.complex64),
    torch.tensor([True, False]),
    torch.tensor(1),
    torch.zeros(0),
    torch.zeros(0, 3),
    torch.tensor([1.0, 2.0], dtype=torch.float8_e4m3fn),
    torch.tensor([1, 2], dtype=torch.uint16),
    torch.tensor([[0.0, 1.0]]).to_sparse(),
    torch.tensor([[0.0, 1.0]]).to_sparse_csr(),
    torch.tensor([[0.0, 1.0]]).to_mkldnn(),
    torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    torch.quantize_per_tensor(torch.ones(2) * 2, 0.2, 0, torch.qint8),
    torch.quantize_per_tensor(torch.ones(2) * 2, 0.2, 1, torch.qint8),
    torch.quantize_per_channel(torch.eye(2), torch.ones(2), torch.zeros(2), 0, torch.qint8),
    torch.quantize_per_channel(torch.eye(2), torch.ones(2), torch.zeros(2), 1, torch.qint8),
    torch.nested.nested_tensor([torch.ones(2), torch.ones(1)]),
    torch.nested.nested_tensor([torch.ones(2), torch.ones(1)], layout=torch.jagged),
    torch.tensor(1.0).expand(10**6, 10**6),
    torch.tensor(2.0).expand(10**6, 10**6),
    torch.arange(4.0).expand(10**9, 4),
    torch.arange(5000.0).expand(5000, 5000),
    torch.arange(5000.0)[:, None].expand(5000, 5000),
    np.array([1, 2]),
    np.array([1.0, 2.0]),
    np.float32(1.0),
    Path("a"),
    Path("b"),
    Sample(1),
    Sample(2),
]


def test_no_two_of_these_meet() -> None:
    digests = [digest(value) for value in DIFFERENT]
    assert None not in digests
    assert len(set(digests)) == len(DIFFERENT)


@given(st.recursive(st.integers() | st.text() | st.floats(allow_nan=False), lambda inner: st.lists(inner, max_size=4)))
def test_equal_content_meets(value: Any) -> None:
    assert digest({"batch": value}) == digest(OrderedDict(batch=value))


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=20), st.randoms())
def test_order_counts(values: list[int], random: Any) -> None:
    shuffled = random.sample(values, len(values))
    assert (digest(torch.tensor(values)) == digest(torch.tensor(shuffled))) is (values == shuffled)


def test_how_a_tensor_is_held_does_not_count() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    assert digest(tensor.t().contiguous().t()) == digest(tensor)
    assert digest(tensor.clone().requires_grad_()) == digest(tensor)
    assert digest([Point(1, tensor)]) == digest([(1, tensor)])
    assert digest(torch.ones(2).expand(3, 2)[:1, 0]) == digest(torch.ones(1))
    assert digest(torch.nested.nested_tensor([tensor])) == digest(torch.nested.nested_tensor([tensor.clone()]))


def test_values_are_compared_bit_by_bit() -> None:
    not_a_number = torch.tensor([float("nan"), 0.0])
    assert digest(not_a_number) == digest(not_a_number.clone())
    assert digest(not_a_number) != digest(-not_a_number)
    assert digest(torch.tensor([1 + 2j]).conj()) == digest(torch.tensor([1 - 2j]))


@pytest.mark.parametrize(
    "value",
    [object(), Nothing(), {1, 2}, np.array([object()]), lambda: None, Sample, ENDLESS],
    ids=["object", "empty object", "set", "array of objects", "function", "class", "endless list"],
)
def test_what_has_no_content_has_no_hash(value: Any) -> None:
    assert digest([value]) is None


def test_small_values_are_shown() -> None:
    assert shown(torch.tensor([[1, 2], [3, 4]])) == "1 2 3 4"
    assert shown([torch.tensor(0.123456789), "label"]) == "0.123457 label"
    assert shown({"x": np.array([1.5])}) == "1.5"
    assert shown(torch.zeros(SMALL + 1)) is None
    assert shown(object()) is None
    assert shown(torch.ones(1, device="meta")) is None
    assert shown(torch.nested.nested_tensor([torch.ones(2), torch.ones(1)])) is None
