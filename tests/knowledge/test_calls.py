"""The calls that no other table speaks of: each table has names and a source, and the names are there to be called."""

from __future__ import annotations

import importlib
from typing import get_args

import pytest

from torchrepro_lint.knowledge.calls import CallTable, PackageTable, known_calls, known_packages

INSTALLED = ("builtins", "multiprocessing", "numpy", "operator", "os", "random", "time", "torch")


@pytest.mark.parametrize("table", get_args(CallTable))
def test_the_names_of_a_table_are_there(table: CallTable) -> None:
    names = known_calls(table)
    assert names
    for name in names:
        if name.startswith(tuple(f"{package}." for package in INSTALLED)):
            assert callable(found(name)), name


@pytest.mark.parametrize("table", get_args(PackageTable))
def test_a_table_of_packages_has_whole_packages(table: PackageTable) -> None:
    packages = known_packages(table)
    assert packages
    assert not [name for name in packages if not name.isidentifier()]


def found(name: str) -> object:
    """What the dotted name stands for, its last module imported."""
    module, _, attributes = name.partition(".")
    thing: object = importlib.import_module(module)
    for attribute in attributes.split("."):
        module = f"{module}.{attribute}"
        if not hasattr(thing, attribute):
            importlib.import_module(module)
        thing = getattr(thing, attribute)
    return thing
