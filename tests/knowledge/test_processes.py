"""What starts functions of the program in other processes."""

from __future__ import annotations

import pytest
from knowledge.installed import parameters_of

from torchrepro_lint.knowledge.processes import pool_classes, process_starts


@pytest.mark.parametrize("name", sorted(pool_classes()))
def test_the_arguments_of_a_pool_are_those_of_the_installed_class(name: str) -> None:
    parameters = parameters_of(name)
    row = pool_classes()[name]
    for parameter in (row.workers, row.initializer):
        assert parameters[parameter.position or 0] == parameter.name


def test_a_method_belongs_to_a_pool_that_is_known() -> None:
    methods = {name for name, row in process_starts().items() if not row.alone and "process_map" not in name}
    assert {name.rpartition(".")[0] for name in methods} <= set(pool_classes())
