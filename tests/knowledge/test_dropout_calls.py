"""Functions that apply dropout whenever they are called."""

from __future__ import annotations

import inspect

import pytest

from torchrepro_lint.knowledge.dropout_calls import dropout_calls
from torchrepro_lint.knowledge.rng import rng_effects

OF_TORCH = sorted(name for name in dropout_calls() if name.startswith("torch.nn.functional."))


def of_torch(name: str) -> object:
    torch = pytest.importorskip("torch")
    return getattr(torch.nn.functional, name.rpartition(".")[2])


@pytest.mark.parametrize("name", OF_TORCH)
def test_each_draws(name: str) -> None:
    assert any(effect.kind == "draw" for effect in rng_effects(name))


@pytest.mark.parametrize("name", [name for name in OF_TORCH if not name.endswith("attention")])
def test_it_drops_where_nothing_is_said_of_the_mode(name: str) -> None:
    row = dropout_calls()[name]
    parameters = inspect.signature(of_torch(name)).parameters  # type: ignore[arg-type]
    assert row.mode is not None
    assert parameters[row.mode.name].default is True
    assert list(parameters).index(row.mode.name) == row.mode.position
    assert parameters[row.rate.name].default == row.rate_if_missing
    assert list(parameters).index(row.rate.name) == row.rate.position


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_what_drops_nothing_by_default_is_not_listed(name: str) -> None:
    full = f"torch.nn.functional.{name}"
    assert full not in dropout_calls()
    assert inspect.signature(of_torch(full)).parameters["training"].default is False  # type: ignore[arg-type]


def test_attention_has_no_mode() -> None:
    row = dropout_calls()["torch.nn.functional.scaled_dot_product_attention"]
    assert row.mode is None
    assert "training" not in (of_torch("scaled_dot_product_attention").__doc__ or "").split("(")[1].split(")")[0]
