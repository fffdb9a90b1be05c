"""Whether an installed package brings rules."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

from torchrepro_lint.rule_metadata import RULES_GROUP

__all__ = ["are_rules_installed"]


def are_rules_installed() -> bool:
    """Whether a package that is installed names rules of its own."""
    if not _may_be():
        return False
    from importlib.metadata import entry_points  # it brings the parser of mails, and takes longer than all else here

    return bool(entry_points(group=RULES_GROUP))


def _may_be() -> bool:
    """A quick look at what `importlib.metadata` would read: whether the group is named there, or nobody knows."""
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return True
    return any(_is_named_in(folder or ".") for folder in sys.path)


def _is_named_in(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except FileNotFoundError:
        return False
    except OSError:
        return True  # an archive
    return any(
        _is_named(f"{folder}/{name}/entry_points.txt")
        for name in names
        if name.lower().endswith((".dist-info", "egg-info"))
    )


def _is_named(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            return RULES_GROUP.encode() in stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
