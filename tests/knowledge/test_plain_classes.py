"""Bases that only make a kind of what derives from them, held against Python and the torch that is installed."""

from __future__ import annotations

import importlib

import pytest

from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.knowledge.tables import read_toml


@pytest.mark.parametrize("name", plain_classes())
def test_a_class_has_the_bases_that_are_listed(name: str) -> None:
    cls, *above = (_found(one) for one in (name, *plain_classes()[name]))
    assert all(base in cls.__mro__ for base in above)
    # Protocols, such as Iterable, are no bases of which anybody asks here.
    others = {base for base in cls.__mro__[1:] if base.__module__ not in ("builtins", "collections.abc", "typing")}
    assert others <= {*above}


def _found(name: str) -> type:
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def test_every_row_says_where_it_is_from() -> None:
    assert all(row["source"] for row in read_toml("plain_classes.toml")["plain"])
