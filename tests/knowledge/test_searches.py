"""Searches of hyperparameters with a seed of their own."""

from __future__ import annotations

import pytest
from knowledge.installed import parameters_of

from torchrepro_lint.knowledge.searches import searches

NAMES = sorted(searches())


@pytest.mark.parametrize("name", NAMES)
def test_each_has_something_that_seeds_it(name: str) -> None:
    row = searches()[name]
    assert row.seed is not None or row.through is not None


@pytest.mark.parametrize("name", NAMES)
def test_the_argument_is_one_of_the_installed_package(name: str) -> None:
    parameters = parameters_of(name)
    row = searches()[name]
    for parameter in (row.seed, row.through, row.shared):
        assert parameter is None or parameter.name in parameters
