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


@pytest.mark.parametrize("name", [name for name, row in process_starts().items() if row.when])
def test_what_starts_processes_by_its_arguments_has_a_function_to_run(name: str) -> None:
    assert process_starts()[name].function.name in parameters_of(name)


def test_a_method_belongs_to_a_pool_that_is_known() -> None:
    methods = {name for name, row in process_starts().items() if not (row.alone or row.when or row.fresh)}
    methods -= {"tqdm.contrib.concurrent.process_map"}
    assert {name.rpartition(".")[0] for name in methods} <= set(pool_classes())
