"""The parameters of functions and classes of libraries, where these are installed."""

from __future__ import annotations

import importlib
import inspect

import pytest


def parameters_of(name: str) -> list[str]:
    """The names of the parameters, in order; the test is skipped where nothing installed has this dotted name."""
    module, _, last = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), last)
    except (ImportError, AttributeError):
        pytest.skip(f"{name} is not in what is installed")
    return list(inspect.signature(found).parameters)
