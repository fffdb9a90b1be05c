"""The names that decide an order: each is one that the rest of the knowledge knows, and has a source."""

from __future__ import annotations

from typing import get_args

import pytest

from torchrepro_lint.knowledge.ordering import OrderingTable, ordering_names
from torchrepro_lint.knowledge.rng import rng_effects


@pytest.mark.parametrize("table", get_args(OrderingTable))
def test_each_table_has_names_and_a_source(table: OrderingTable) -> None:
    assert ordering_names(table)


@pytest.mark.parametrize("table", ["torch_splits", "torch_samplers", "torch_permutations"])
def test_what_draws_takes_a_seed_or_a_generator(table: OrderingTable) -> None:
    for name in ordering_names(table):
        assert any(effect.kind == "draw" and effect.generator_parameter for effect in rng_effects(name)), name


def test_what_splits_draws_from_numpy() -> None:
    for name in ordering_names("numpy_splits"):
        assert any(effect.kind == "draw" and effect.rng == "numpy" for effect in rng_effects(name)), name
