"""What gives a tensor."""

from __future__ import annotations

import pytest

from torchrepro_lint.knowledge.tables import read_toml
from torchrepro_lint.knowledge.tensors import is_tensor_attribute, returns_tensor, tensor_methods


@pytest.mark.parametrize(
    ("qualname", "verdict"),
    [
        ("torch.zeros", True),
        ("torch.tensor", True),
        ("torch.from_numpy", True),
        ("torch.Tensor", True),
        ("torch.nn.functional.relu", True),
        ("torch.linalg.inv", True),
        ("torch.Tensor.cumsum", True),
        ("torch.Tensor.to", True),
        ("torch.Tensor.float", True),
        ("torch.max", True),
        ("torch.nn.Parameter", True),
        ("torch.sort", False),
        ("torch.split", False),
        ("torch.Tensor.item", False),
        ("torch.Tensor.size", False),
        ("torch.Tensor.tolist", False),
        ("torch.Tensor.numpy", False),
        ("torch.is_tensor", False),
        ("torch.load", False),
        ("torch.manual_seed", False),
        ("torch.linalg.eigh", False),
        ("numpy.zeros", False),
        ("pandas.DataFrame.cumsum", False),
    ],
)
def test_returns_tensor(qualname: str, verdict: bool) -> None:
    assert returns_tensor(qualname) is verdict


def test_attributes_and_methods() -> None:
    assert is_tensor_attribute("T")
    assert not is_tensor_attribute("shape")
    assert "index_add_" in tensor_methods()
    assert "item" not in tensor_methods()


def test_the_file_says_its_source_and_names_nothing_twice() -> None:
    data = read_toml("tensors.toml")
    assert data["source"]
    for names in (data["methods"], data["attributes"], data["classes"], *data["functions"].values()):
        assert len(set(names)) == len(names)


def test_the_functions_give_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.rand(4, 4)
    for name in ("abs", "cumsum", "argsort", "cat", "einsum", "where", "median", "clone", "matmul"):
        arguments = {
            "cumsum": (x, 0),
            "cat": ([x],),
            "einsum": ("ij->i", x),
            "where": (x > 0, x, x),
            "matmul": (x, x),
        }.get(name, (x,))
        assert returns_tensor(f"torch.{name}")
        assert isinstance(getattr(torch, name)(*arguments), torch.Tensor)
