"""The rules: one class in one file, in the folder of its family.

A rule needs no registration: every module below this package is looked through for subclasses of `Rule`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from torchrepro_lint.rules.base import Rule

__all__ = ["Rule", "all_rules"]


@cache
def all_rules() -> tuple[Rule, ...]:
    """One object of every rule, in the order of their codes."""
    found: dict[str, Rule] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            # Not by isinstance: until Python 3.10, `list[int]` says of itself that it is a class.
            if issubclass(type(value), type) and issubclass(value, Rule) and "code" in vars(value):
                found[value.code] = value()
    return tuple(found[code] for code in sorted(found))
