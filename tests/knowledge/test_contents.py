"""What a use of a tensor does with the contents of its memory."""

from __future__ import annotations

import pytest

from torchrepro_lint.knowledge.contents import attribute_use, function_use, method_use
from torchrepro_lint.knowledge.tables import expand_names, read_toml


def test_uses() -> None:
    assert method_use("mean") == method_use("add_") == "reads"
    assert method_use("numel") == "form"
    assert method_use("view") == "carries"
    assert method_use("zero_") is method_use("copy_") is method_use("numpy") is None
    assert attribute_use("shape") == "form"
    assert attribute_use("T") == "carries"
    assert attribute_use("grad") is None
    assert function_use("torch.nn.functional.linear") == "reads"
    assert function_use("torch.Tensor.matmul") == "reads"
    assert function_use("torch.zeros_like") == "form"
    assert function_use("torch.baddbmm") is function_use("torch.nn.init.zeros_") is None


def test_every_name_is_one_of_torch_and_says_one_thing() -> None:
    torch = pytest.importorskip("torch")
    data = read_toml("contents.toml")
    for kind, owner in (("methods", torch.Tensor), ("attributes", torch.empty(1, 1))):
        names = [
            name
            for use in ("reads", "form", "carries")
            for text in data[use].get(kind, ())
            for name in expand_names(text)
        ]
        assert len(names) == len(set(names))
        assert not [name for name in names if not hasattr(owner, name)]


def test_what_reads_shows_what_was_in_memory() -> None:
    torch = pytest.importorskip("torch")
    for name in ("abs", "exp_", "sum", "mean", "norm", "relu_", "sqrt", "cumsum", "softmax", "max", "item"):
        assert method_use(name) == "reads"
        arguments = (0,) if name in ("cumsum", "softmax") else ()
        result = getattr(torch.full((1,), float("nan")), name)(*arguments)
        assert torch.as_tensor(result).isnan().all(), name
