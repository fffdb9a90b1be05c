"""Dotted names as text: `torch.utils.data.DataLoader`."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["dotted_beginning", "last_part", "last_parts", "name_beginning", "shortened"]

_NAME_BEGINNING = re.compile(r"[^\W\d][\w.]*")
_BEGINNING = re.compile(r"(?:[^\W\d]\w*\.)+")


def last_part(name: str) -> str:
    """What stands after the last dot, `DataLoader`: what code says after `from torch.utils.data import DataLoader`."""
    return name.rpartition(".")[2]


def shortened(name: str, longest: int) -> str:
    """The name; of one with more than so many characters what a reader knows it by: `DataFrameGroupBy.sample`."""
    return name if len(name) <= longest else ".".join(name.split(".")[-2:])


def last_parts(names: Iterable[str]) -> frozenset[str]:
    """The last part of each name."""
    return frozenset(map(last_part, names))


def dotted_beginning(text: str) -> str:
    """The text, where a name that follows makes it a dotted name, as in `f"datasets.{name}"`; else none."""
    return text if _BEGINNING.fullmatch(text) else ""


def name_beginning(text: str) -> str:
    """The text, where what follows may make it a name, as in `f"random_flip_{axis}"`; else none."""
    return text if _NAME_BEGINNING.fullmatch(text) else ""
