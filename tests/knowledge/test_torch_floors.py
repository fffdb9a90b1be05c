"""The table of what says which torch a project needs: held against the torch that is installed."""

from __future__ import annotations

import importlib
import inspect

import pytest

from torchrepro_lint.knowledge.torch_floors import api_keywords, api_names, companions, python_syntax
from torchrepro_lint.knowledge.versions import release


def test_every_version_of_torch_is_a_version():
    for torch in [*api_names().values(), *api_keywords().values()]:
        assert release("1.7") < release(torch) <= release("2.13")


def test_syntax_has_a_floor():
    for version in python_syntax().values():
        assert companions()["python"].torch_of(f">={version}") is not None


@pytest.mark.parametrize(
    ("name", "specifier", "wanted"),
    [
        ("python", "==3.10", ">=1.11"),
        ("python", "==3.10.*", ">=1.11"),
        ("torchvision", "==0.14.1", "==1.13.*"),
        ("torchvision", ">0.9.1", ">=1.8"),
        ("torchvision", ">=0.14,<0.15", "==1.13.*"),
        ("torchvision", ">=0.14,<0.16", ">=1.13"),
        ("torchvision", "!=0.9", None),
        ("lightning", ">=2.0.1", ">=1.11"),
    ],
)
def test_what_a_package_needs(name, specifier, wanted):
    assert companions()[name].torch_of(specifier) == wanted


@pytest.mark.parametrize("name", sorted(api_names()))
def test_a_name_is_in_the_installed_torch(name):
    pytest.importorskip("torch")
    module, _, member = name.rpartition(".")
    try:
        found = hasattr(importlib.import_module(module), member)
    except ImportError:
        found = False
    if not found:
        importlib.import_module(name)


@pytest.mark.parametrize(("function", "argument"), sorted(api_keywords()))
def test_an_argument_is_in_the_installed_torch(function, argument):
    pytest.importorskip("torch")
    module, _, member = function.rpartition(".")
    value = getattr(importlib.import_module(module), member)
    assert argument in inspect.signature(value).parameters
